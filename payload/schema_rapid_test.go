package payload_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/rotajobs/rota/payload"
	"pgregory.net/rapid"
)

type Inner struct {
	A *int            `json:"a"`
	B map[int8]string `json:"b"`
	C []*Inner        `json:"c"`
}

type deep struct {
	Inner
	*Lost
	List  []Inner             `json:"list,omitempty"`
	Map   map[string][]string `json:"map"`
	Fixed [3]uint16           `json:"fixed"`
	Next  *deep               `json:"next"`
	Bytes []byte              `json:"bytes"`
}

type scalars struct {
	Bool  bool
	Int8  int8
	Int64 int64 `json:",string"`
	Uint  uint64
	F32   float32 `json:",omitempty"`
	F64   *float64
	Text  string `json:"<text>"`
	PP    **string
}

type special struct {
	At   time.Time        `json:"at"`
	Zero time.Time        `json:"zero,omitzero"`
	For  time.Duration    `json:"for"`
	In   payload.Duration `json:"in"`
	InP  *payload.Duration
	Raw  json.RawMessage `json:"raw"`
	Num  json.Number     `json:"num"`
	Any  any             `json:"any"`
	Arr  [2]struct{ X, Y *bool }
}

// TestSchemaAcceptsEncodedValuesOfItsType fills values of several types at random.
// The schema of a type accepts the JSON of each of its values.
func TestSchemaAcceptsEncodedValuesOfItsType(t *testing.T) {
	for _, zero := range []any{deep{}, scalars{}, special{}, node{}, tree{}, embedding{}, shadowing{}, ambiguous{}} {
		typ := reflect.TypeOf(zero)
		t.Run(typ.Name(), func(t *testing.T) {
			schema, err := payload.Schema(zero)
			if err != nil {
				t.Fatal(err)
			}
			compiled, err := payload.Compile(schema)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(typ).Elem()
				fill(t, v, 4)
				params, err := json.Marshal(v.Interface())
				if err != nil {
					t.Fatal(err)
				}
				if err := compiled.Check(params); err != nil {
					t.Fatalf("%s\n%s\n%v", schema, params, err)
				}
			})
		})
	}
}

// fill sets a value at random, sometimes to nil.
func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(-1<<35, 1<<35).Draw(t, "time"), rapid.Int64Range(0, 1e9-1).Draw(t, "nano")).UTC()))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(rapid.SampledFrom([]string{"null", "1e3", `{"a":[]}`, `"x"`}).Draw(t, "raw"))))
		return
	case json.Number:
		v.SetString(rapid.SampledFrom([]string{"", "0", "-1.5e10", "123456789012345678901234567890"}).Draw(t, "number"))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(t, v.Field(i), depth)
			}
		}
	case reflect.Pointer:
		if depth > 0 && rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, "length"); depth > 0 && n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			fillEach(t, v, depth-1)
		}
	case reflect.Array:
		fillEach(t, v, depth-1)
	case reflect.Map:
		if n := rapid.IntRange(-1, 2).Draw(t, "size"); depth > 0 && n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(t, key, depth-1)
				fill(t, elem, depth-1)
				v.SetMapIndex(key, elem)
			}
		}
	default:
		fillScalar(t, v)
	}
}

func fillEach(t *rapid.T, v reflect.Value, depth int) {
	for i := range v.Len() {
		fill(t, v.Index(i), depth)
	}
}

func fillScalar(t *rapid.T, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case v.Kind() == reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case v.CanInt():
		n := rapid.Int64().Draw(t, "int")
		v.SetInt(n >> (64 - v.Type().Bits()))
	case v.CanUint():
		v.SetUint(rapid.Uint64().Draw(t, "uint") >> (64 - v.Type().Bits()))
	case v.CanFloat():
		v.SetFloat(float64(rapid.Float32Range(-1e30, 1e30).Draw(t, "float")))
	case v.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]any{1, "x", []any{nil}, map[string]any{}}).Draw(t, "any")))
	}
}
