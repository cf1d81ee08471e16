package rota

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// The encoding must not change, because logs on disk contain it. If a golden file
// changes, the codec needs a new version byte and a decoder for the old version. Use
// -update for new verbs and fields only.
func TestCodecGolden(t *testing.T) {
	mixed := Batch{Now: sampleTime}
	for _, c := range sampleCommands() {
		mixed.Commands = append(mixed.Commands, c)
		checkGolden(t, string(c.Verb()), Batch{Now: sampleTime, Commands: []Command{c}})
	}
	for name, c := range sampleVariants() {
		checkGolden(t, name, Batch{Now: sampleTime, Commands: []Command{c}})
	}
	checkGolden(t, "mixed", mixed)
	checkGolden(t, "empty", Batch{})
}

func checkGolden(t *testing.T, name string, b Batch) {
	t.Helper()
	data := mustEncode(t, b)
	got, path := hex.Dump(data), filepath.Join("testdata", "codec", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: the encoding has changed\ngot\n%swant\n%s", name, got, want)
	}
	if back := mustDecode(t, data); !reflect.DeepEqual(back, b) {
		t.Errorf("%s: decoded to %+v, want %+v", name, back, b)
	}
}

// The samples set every field, so the golden files cover every field.
func TestSamplesSetEveryField(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(sampleCommands(), slices.Collect(maps.Values(sampleVariants()))...) {
		noteFields(reflect.ValueOf(c).Elem(), seen)
	}
	for _, typ := range wireStructs() {
		for i := range typ.NumField() {
			if name := typ.Name() + "." + typ.Field(i).Name; !seen[name] {
				t.Errorf("no sample sets %s", name)
			}
		}
	}
}

func noteFields(v reflect.Value, seen map[string]bool) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		seen[v.Type().Name()+"."+v.Type().Field(i).Name] = true
		switch {
		case f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[time.Time]():
			noteFields(f, seen)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			for k := range f.Len() {
				noteFields(f.Index(k), seen)
			}
		}
	}
}

// wireStructs returns the commands and the structs inside them.
func wireStructs() []reflect.Type {
	var all []reflect.Type
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
			return
		}
		all = append(all, t)
		for i := range t.NumField() {
			visit(t.Field(i).Type)
		}
	}
	for _, t := range wireCommands[1:] {
		visit(t)
	}
	return all
}

// The test fails if a new field has no wire number.
func TestEveryFieldHasAWireNumber(t *testing.T) {
	for _, typ := range append(wireStructs(), reflect.TypeFor[wireBatch]()) {
		taken := map[int]string{}
		for i := range typ.NumField() {
			f := typ.Field(i)
			n, err := strconv.Atoi(f.Tag.Get("wire"))
			if err != nil || n < 1 {
				t.Errorf("%s.%s has the wire tag %q", typ, f.Name, f.Tag.Get("wire"))
			}
			if taken[n] != "" {
				t.Errorf("%s.%s and %s.%s are both number %d", typ, f.Name, typ, taken[n], n)
			}
			taken[n] = f.Name
		}
	}
}

// The test reads the verbs from the source, so it finds new ones.
func TestEveryVerbHasAWireNumber(t *testing.T) {
	numbered := map[string]bool{}
	for _, typ := range wireCommands[1:] {
		c, ok := reflect.New(typ).Interface().(Command)
		if !ok {
			t.Fatalf("%s is not a Command", typ)
		}
		if numbered[string(c.Verb())] {
			t.Errorf("%s has two numbers", c.Verb())
		}
		numbered[string(c.Verb())] = true
	}
	for _, verb := range declaredConstants(t, "command.go", "Verb") {
		if !numbered[verb] {
			t.Errorf("verb %s has no number in wireCommands", verb)
		}
		delete(numbered, verb)
	}
	if len(numbered) > 0 {
		t.Errorf("numbers of undeclared verbs: %v", numbered)
	}
}

// declaredConstants reads the string constants of a type from the source.
func declaredConstants(t *testing.T, path, typ string) (values []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("%s declares no constants of type %s", path, typ)
	}
	return values
}

func TestPlanRefusesUnsupportedFields(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"is not a number from 1": reflect.TypeFor[struct{ A int }](),
		"is used twice": reflect.TypeFor[struct {
			A int `wire:"1"`
			B int `wire:"1"`
		}](),
		"cannot encode": reflect.TypeFor[struct {
			A map[string]int `wire:"1"`
		}](),
	} {
		if _, err := planOf(typ); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("planOf(%s) = %v, want %q in it", typ, err, want)
		}
	}
}

// The test bounds the overhead of the encoding over the caller's bytes.
func TestCodecIsCompact(t *testing.T) {
	params := json.RawMessage(`{"text":"` + strings.Repeat("x", 189) + `"}`)
	enqueue := &Enqueue{Meta: sampleMeta(1)}
	finish := &Finish{Meta: sampleMeta(2)}
	for range 1000 {
		enqueue.Jobs = append(enqueue.Jobs, NewJob{ID: NewID(), Type: "mail.send", Params: params})
		finish.Items = append(finish.Items, FinishItem{LeaseRef: sampleLease(), Outcome: OutcomeCompleted})
	}
	for _, c := range []struct {
		command Command
		most    int // bytes per entry
	}{{enqueue, len(params) + 40}, {finish, 72}} {
		data := mustEncode(t, Batch{Now: sampleTime, Commands: []Command{c.command}})
		t.Logf("%s: %d bytes an entry", c.command.Verb(), len(data)/1000)
		if len(data)/1000 > c.most {
			t.Errorf("%s: %d bytes an entry, want at most %d", c.command.Verb(), len(data)/1000, c.most)
		}
	}
}

func mustEncode(t testing.TB, b Batch) []byte {
	t.Helper()
	data, err := AppendBatch(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustDecode(t testing.TB, data []byte) Batch {
	t.Helper()
	b, err := DecodeBatch(data)
	if err != nil {
		t.Fatalf("decode %x: %v", data, err)
	}
	return b
}
