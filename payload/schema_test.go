package payload_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

type base struct {
	ID int64 `json:"id"`
}

type Lost struct {
	Note string `json:"note"`
}

type embedding struct {
	base         // unexported, but flattened
	*Lost        // if nil, its fields are not encoded
	Name  string `json:"name"`
	Other Lost   `json:"other"`
}

type shadowing struct {
	base
	ID string `json:"id"` // the shallower counts
}

type Left struct{ X, Y int }

type Right struct{ X, Z int }

type ambiguous struct {
	Left
	Right // X of both: neither is encoded
}

type node struct {
	Value int             `json:"value"`
	Next  *node           `json:"next,omitempty"`
	Named map[string]node `json:"named,omitempty"`
}

type tree struct {
	Root node `json:"root"`
}

type weekday string

func (weekday) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"sat", "sun"}}
}

type text struct{ netip.Addr }

type hidden struct {
	Secret  string `json:"-"`
	private string
	Func    func() `json:"-"`
}

// dashed has a field that is called "-" in JSON.
var dashed = reflect.StructOf([]reflect.StructField{{Name: "Dash", Type: reflect.TypeFor[string](), Tag: `json:"-,"`}})

func object(properties, required string) string {
	s := `{"properties":{` + properties + `},"additionalProperties":false,"type":"object"`
	if required != "" {
		s += `,"required":[` + required + `]`
	}
	return s + "}"
}

func TestSchemaOfGoTypes(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"no fields": {struct{}{}, object("", "")},
		"basic kinds": {struct {
			A string
			B bool
			C float64
			D int
			E uint8
			F any
		}{}, object(`"A":{"type":"string"},"B":{"type":"boolean"},"C":{"type":"number"},"D":{"type":"integer"},`+
			`"E":{"type":"integer","maximum":255,"minimum":0},"F":true`, `"A","B","C","D","E","F"`)},
		"times": {struct {
			At  time.Time        `json:"at"`
			For time.Duration    `json:"for"`
			In  payload.Duration `json:"in"`
		}{}, object(`"at":{"type":"string","format":"date-time"},"for":{"type":"integer","description":"nanoseconds"},`+
			`"in":{"type":"string","format":"rota-duration","description":"a duration, such as 90s, 1h30m or 2 DAYS","examples":["90s"]}`, `"at","for","in"`)},
		"not required": {struct {
			A int       `json:"a,omitempty"`
			B time.Time `json:"b,omitzero"`
			C int       `json:"c,omitempty" jsonschema:"required"`
		}{}, object(`"a":{"type":"integer"},"b":{"type":"string","format":"date-time"},"c":{"type":"integer"}`, `"c"`)},
		"left out":     {hidden{private: "x"}, object("", "")},
		"named a dash": {reflect.New(dashed).Interface(), object(`"-":{"type":"string"}`, `"-"`)},
		"nil is null": {struct {
			A *string        `json:"a"`
			B []int          `json:"b"`
			C map[string]int `json:"c"`
			D []int          `json:"d,omitempty"`
			E *Lost          `json:"e"`
			F []byte         `json:"f"`
		}{}, object(`"a":{"type":["string","null"]},"b":{"items":{"type":"integer"},"type":["array","null"]},`+
			`"c":{"additionalProperties":{"type":"integer"},"type":["object","null"]},"d":{"items":{"type":"integer"},"type":"array"},`+
			`"e":{"properties":{"note":{"type":"string"}},"additionalProperties":false,"required":["note"],"type":["object","null"]},`+
			`"f":{"contentEncoding":"base64","type":["string","null"]}`, `"a","b","c","e","f"`)},
		"lists and maps": {struct {
			A [2]bool
			B map[int]*bool `json:",omitempty"`
			C []*int        `json:",omitempty"`
		}{}, object(`"A":{"items":{"type":"boolean"},"type":"array","maxItems":2,"minItems":2},`+
			`"B":{"patternProperties":{"^-?[0-9]+$":{"type":["boolean","null"]}},"additionalProperties":false,"type":"object"},`+
			`"C":{"items":{"type":["integer","null"]},"type":"array"}`, `"A"`)},
		"embedded": {embedding{}, object(`"id":{"type":"integer"},"note":{"type":"string"},"name":{"type":"string"},`+
			`"other":`+object(`"note":{"type":"string"}`, `"note"`), `"id","name","other"`)},
		"shadowed":  {shadowing{}, object(`"id":{"type":"string"}`, `"id"`)},
		"ambiguous": {ambiguous{}, object(`"Y":{"type":"integer"},"Z":{"type":"integer"}`, `"Y","Z"`)},
		"containing itself": {node{}, object(`"value":{"type":"integer"},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]},`+
			`"named":{"additionalProperties":{"$ref":"#"},"type":"object"}`, `"value"`)},
		"holding one that contains itself": {tree{}, `{"$defs":{"node":` +
			object(`"value":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]},`+
				`"named":{"additionalProperties":{"$ref":"#/$defs/node"},"type":"object"}`, `"value"`) +
			`},` + object(`"root":{"$ref":"#/$defs/node"}`, `"root"`)[1:]},
		"own schemas": {struct {
			Day  weekday         `json:"day"`
			Raw  json.RawMessage `json:"raw"`
			Big  *big.Int        `json:"big"`
			Num  json.Number     `json:"num"`
			Text text            `json:"text"`
			Many int             `json:"many,string"`
		}{}, object(`"day":{"type":"string","enum":["sat","sun"]},"raw":true,"big":true,"num":{"type":"number"},"text":{"type":"string"},"many":{"type":"string"}`,
			`"day","raw","big","num","text","many"`)},
		"tags": {struct {
			To   string   `json:"to" jsonschema:"format=email,minLength=3,description=recipient\\, or list"`
			Kind *string  `json:"kind" jsonschema:"enum=a,enum=b"`
			N    int      `json:"n" jsonschema:"minimum=1,maximum=10"`
			Tags []string `json:"tags" jsonschema:"minItems=1,uniqueItems=true"`
			Free string   `json:"free" jsonschema:"-"`
		}{}, object(`"to":{"type":"string","minLength":3,"format":"email","description":"recipient, or list"},"kind":{"enum":["a","b",null],"type":["string","null"]},`+
			`"n":{"type":"integer","maximum":10,"minimum":1},"tags":{"items":{"type":"string"},"type":"array","minItems":1,"uniqueItems":true},"free":true`,
			`"to","kind","n","tags"`)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := payload.Schema(c.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestSchemaOfAPointerEqualsThatOfTheType(t *testing.T) {
	value, err1 := payload.Schema(node{})
	pointer, err2 := payload.Schema(&node{})
	if err1 != nil || err2 != nil || string(value) != string(pointer) {
		t.Errorf("got %s (%v) and %s (%v)", value, err1, pointer, err2)
	}
}

type ring *ring

type wide8 struct{ A, B, C, D, E, F, G, H wide7 }

type wide7 struct{ A, B, C, D, E, F, G, H wide6 }

type wide6 struct{ A, B, C, D, E, F, G, H wide5 }

type wide5 struct{ A, B, C, D, E, F, G, H wide4 }

type wide4 struct{ A, B, C, D, E, F, G, H int }

type nothing struct{}

func (nothing) JSONSchema() *jsonschema.Schema { return nil }

func TestSchemaRefusesTypesThatJSONCannotRepresent(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"nil":        {nil, "nil has no type"},
		"channel":    {struct{ C chan int }{}, "a value of type chan int, which JSON cannot represent"},
		"function":   {struct{ F func() }{}, "leave it out with `json:\"-\"`"},
		"float key":  {struct{ M map[float64]int }{}, "keys of type float64"},
		"pointers":   {struct{ R ring }{}, "points to pointers without end"},
		"too large":  {wide8{}, "more than 5000 parts"},
		"nil schema": {struct{ N nothing }{}, "returns nil"},
		"unknown word": {struct {
			A string `jsonschema:"minlength=1"`
		}{}, "did you mean minLength?"},
		"comma": {struct {
			A string `jsonschema:"description=a, b"`
		}{}, `a comma in a text is written \\,`},
		"no number": {struct {
			A int `jsonschema:"minimum=one"`
		}{}, `"minimum=one", which is not a number`},
		"a value for a flag": {struct {
			A int `jsonschema:"required=true"`
		}{}, "a value follows every word but"},
		"bad pattern": {struct {
			A string `jsonschema:"pattern=("`
		}{}, "schema.properties.A.pattern: is not a pattern: missing closing )"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := payload.Schema(c.value)
			if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an Invalid with %q", err, c.want)
			}
		})
	}
}
