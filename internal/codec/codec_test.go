package codec

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// The encoding must not change, because logs on disk contain it. If a golden file
// changes, the codec needs a new version byte and a decoder for the old version. Use
// -update for new verbs and fields only.
func TestCodecGolden(t *testing.T) {
	mixed := rota.Batch{Now: samples.Time}
	for _, c := range samples.Commands() {
		mixed.Commands = append(mixed.Commands, c)
		checkGolden(t, string(c.Verb()), rota.Batch{Now: samples.Time, Commands: []rota.Command{c}})
	}
	for name, c := range samples.Variants() {
		checkGolden(t, name, rota.Batch{Now: samples.Time, Commands: []rota.Command{c}})
	}
	checkGolden(t, "mixed", mixed)
	checkGolden(t, "empty", rota.Batch{})
}

func checkGolden(t *testing.T, name string, b rota.Batch) {
	t.Helper()
	data := mustEncode(t, b)
	got, path := hex.Dump(data), filepath.Join("testdata", name+".golden")
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
	for _, c := range append(samples.Commands(), slices.Collect(maps.Values(samples.Variants()))...) {
		noteFields(reflect.ValueOf(c).Elem(), seen)
	}
	for _, typ := range wireStructs() {
		for i := range typ.NumField() {
			if name := typ.Name() + "." + typ.Field(i).Name; !seen[name] && typ.Field(i).Tag.Get("wire") != notEncoded {
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

// The test fails if a new field has neither a wire number nor the tag of fields that are not
// encoded.
func TestEveryFieldHasAWireNumber(t *testing.T) {
	for _, typ := range append(wireStructs(), reflect.TypeFor[wireBatch]()) {
		taken := map[int]string{}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Tag.Get("wire") == notEncoded {
				continue
			}
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

// A test of package rota checks that there is a sample of every verb.
func TestEveryVerbHasAWireNumber(t *testing.T) {
	numbered := map[string]bool{}
	for _, typ := range wireCommands[1:] {
		c, ok := reflect.New(typ).Interface().(rota.Command)
		if !ok {
			t.Fatalf("%s is not a Command", typ)
		}
		if numbered[string(c.Verb())] {
			t.Errorf("%s has two numbers", c.Verb())
		}
		numbered[string(c.Verb())] = true
	}
	for _, c := range samples.Commands() {
		verb := string(c.Verb())
		if !numbered[verb] {
			t.Errorf("verb %s has no number in wireCommands", verb)
		}
		delete(numbered, verb)
	}
	if len(numbered) > 0 {
		t.Errorf("numbers of undeclared verbs: %v", numbered)
	}
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
	enqueue := &rota.Enqueue{Meta: samples.Meta(1)}
	finish := &rota.Finish{Meta: samples.Meta(2)}
	for range 1000 {
		enqueue.Jobs = append(enqueue.Jobs, rota.NewJob{ID: rota.NewID(), Type: "mail.send", Params: params})
		finish.Items = append(finish.Items, rota.FinishItem{LeaseRef: samples.Lease(), Outcome: rota.OutcomeCompleted})
	}
	for _, c := range []struct {
		command rota.Command
		most    int // bytes per entry
	}{{enqueue, len(params) + 40}, {finish, 72}} {
		data := mustEncode(t, rota.Batch{Now: samples.Time, Commands: []rota.Command{c.command}})
		t.Logf("%s: %d bytes an entry", c.command.Verb(), len(data)/1000)
		if len(data)/1000 > c.most {
			t.Errorf("%s: %d bytes an entry, want at most %d", c.command.Verb(), len(data)/1000, c.most)
		}
	}
}

func mustEncode(t testing.TB, b rota.Batch) []byte {
	t.Helper()
	data, err := AppendBatch(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustDecode(t testing.TB, data []byte) rota.Batch {
	t.Helper()
	b, err := DecodeBatch(data)
	if err != nil {
		t.Fatalf("decode %x: %v", data, err)
	}
	return b
}
