package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// fullReply returns a reply with all fields set. The value of a field depends on its wire
// number only, so that a further field does not change the values of the others.
func fullReply(typ reflect.Type) rota.Reply {
	v := reflect.New(typ)
	fill(v.Elem(), 0)
	return v.Interface().(rota.Reply)
}

func fullReplies() (all []rota.Reply) {
	for _, typ := range wireReplies[1:] {
		all = append(all, fullReply(typ))
	}
	return all
}

func fullError() *rota.Error {
	e := &rota.Error{}
	fill(reflect.ValueOf(e).Elem(), 0)
	return e
}

func fill(v reflect.Value, n byte) {
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = samples.Time.Add(time.Duration(n) * time.Second)
		return
	case *error:
		*value = cause("cause")
		return
	case *rota.Reply:
		*value = &rota.Readied{Count: int(n), More: true}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-int64(n))
	case reflect.Uint8:
		v.SetUint(uint64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) / 16)
	case reflect.String:
		v.SetString("text " + string('a'+rune(n)))
	case reflect.Array:
		v.Index(v.Len() - 1).SetUint(uint64(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), wireNumber(v.Type().Field(i)))
		}
	}
}

func wireNumber(f reflect.StructField) (n byte) {
	for _, digit := range []byte(f.Tag.Get("wire")) {
		n = 10*n + digit - '0'
	}
	return n
}

// The encoding must not change: members of a cluster compare hashes of it, and may run two
// versions of the program. If a golden file changes, the codec needs a new version byte. Use
// -update for new replies and fields only.
func TestResultsGolden(t *testing.T) {
	for _, r := range fullReplies() {
		checkResultsGolden(t, snake(reflect.TypeOf(r).Elem().Name()), []rota.Result{{Reply: r}})
	}
	checkResultsGolden(t, "error", []rota.Result{{Err: fullError()}})
	checkResultsGolden(t, "mixed", []rota.Result{
		{Reply: &rota.Readied{}},
		{Err: &rota.Error{}},
		{},
		{Reply: &rota.AllDone{Replies: []rota.Reply{&rota.Edited{}, nil}}},
	})
	checkResultsGolden(t, "empty", nil)
}

func checkResultsGolden(t *testing.T, name string, results []rota.Result) {
	t.Helper()
	data := mustEncodeResults(t, results)
	got, path := hex.Dump(data), filepath.Join("testdata", "results_"+name+".golden")
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
	if back := mustDecodeResults(t, data); !reflect.DeepEqual(back, results) {
		t.Errorf("%s: decoded to %+v, want %+v", name, back, results)
	}
}

// The test reads the types of replies from the source of package rota.
func TestEveryReplyHasAWireNumber(t *testing.T) {
	numbered := map[string]bool{}
	for _, typ := range wireReplies[1:] {
		if numbered[typ.Name()] {
			t.Errorf("%s has two numbers", typ)
		}
		numbered[typ.Name()] = true
	}
	declared := replyTypes(t)
	if len(declared) < 40 {
		t.Fatalf("%d replies found in package rota; the test searches in the wrong place", len(declared))
	}
	for _, name := range declared {
		if !numbered[name] {
			t.Errorf("reply %s has no number in wireReplies", name)
		}
	}
}

// replyTypes returns the names of the types with a method reply.
func replyTypes(t *testing.T) (names []string) {
	files, err := filepath.Glob("../../*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv != nil && f.Name.Name == "reply" {
				receiver, is := f.Recv.List[0].Type.(*ast.StarExpr)
				if !is {
					t.Fatalf("%s: a reply that is not a pointer", name)
				}
				names = append(names, receiver.X.(*ast.Ident).Name)
			}
		}
	}
	return names
}

// The golden files cover every field, because fullReply sets every field.
func TestFullRepliesSetEveryField(t *testing.T) {
	var visit func(path string, v reflect.Value)
	visit = func(path string, v reflect.Value) {
		switch {
		case v.IsZero():
			t.Errorf("%s is not set", path)
		case v.Type() == reflect.TypeFor[time.Time]():
		case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
			visit(path, v.Elem())
		case v.Kind() == reflect.Slice:
			visit(path+"[0]", v.Index(0))
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				visit(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
	for _, r := range fullReplies() {
		visit(reflect.TypeOf(r).Elem().Name(), reflect.ValueOf(r))
	}
	visit("Error", reflect.ValueOf(fullError()))
}

// A digest of single results is a digest of the list.
func TestAppendResultsIsVersionAndEachResult(t *testing.T) {
	want := []byte("before" + string(rune(resultsVersion)))
	var results []rota.Result
	for _, r := range append(fullReplies(), nil) {
		results = append(results, rota.Result{Reply: r})
		var err error
		if want, err = AppendResult(want, results[len(results)-1]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := AppendResults([]byte("before"), results)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v\nwant %x", got, err, want)
	}
}

func TestDecodedErrorReadsLikeTheOriginal(t *testing.T) {
	original := &rota.Error{Code: rota.Conflict, Act: "edit", Reason: "was changed", Hint: "read it again", Err: errors.New("the cause")}
	wrapped := rota.Errorf(rota.Busy, "", "later: %w", original)
	for _, e := range []*rota.Error{{}, original, wrapped, {Code: rota.Internal, Err: errors.New("")}} {
		back := mustDecodeResults(t, mustEncodeResults(t, []rota.Result{{Err: e}}))[0].Err
		if back.Error() != e.Error() || rota.CodeOf(back) != e.Code || (back.Err == nil) != (e.Err == nil) {
			t.Errorf("%#v\nbecame %#v", e, back)
		}
		var found *rota.Error
		if !errors.As(error(back), &found) || found != back {
			t.Errorf("errors.As finds %v in %v", found, back)
		}
	}
}

func TestDecodedResultsShareNoMemory(t *testing.T) {
	var want []rota.Result
	for _, r := range fullReplies() {
		want = append(want, rota.Result{Reply: r})
	}
	want = append(want, rota.Result{Err: fullError()})
	data := mustEncodeResults(t, want)
	got := mustDecodeResults(t, data)
	clear(data)
	if !reflect.DeepEqual(got, want) {
		t.Error("the results changed with the bytes they were read from")
	}
}

// Nil and empty bytes differ; nil and empty lists do not.
func TestResultsKeepEmptyBytesAndPointersToZero(t *testing.T) {
	for _, pair := range [][2]rota.Reply{
		{&rota.Edited{Job: &rota.Job{Params: []byte{}}}, nil},
		{&rota.Edited{Job: &rota.Job{Run: &rota.Run{ExitCode: new(0), RowsAffected: new(int64(0))}}}, nil},
		{&rota.Normalised{Below: new(0)}, nil},
		{&rota.Expired{Skipped: []rota.ID{{}}}, nil},
		{&rota.AllDone{Replies: []rota.Reply{nil, nil}}, nil},
		{&rota.Claimed{Jobs: []*rota.Job{}}, &rota.Claimed{}},
		{&rota.Enqueued{Jobs: []rota.Submitted{}}, &rota.Enqueued{}},
	} {
		want := pair[1]
		if want == nil {
			want = pair[0]
		}
		back := mustDecodeResults(t, mustEncodeResults(t, []rota.Result{{Reply: pair[0]}}))
		if !reflect.DeepEqual(back[0].Reply, want) {
			t.Errorf("%+v became %+v", pair[0], back[0].Reply)
		}
	}
}

func TestResultsKeepTokens(t *testing.T) {
	token := samples.Token(9)
	data := mustEncodeResults(t, []rota.Result{{Reply: &rota.Directed{Job: &rota.Job{Run: &rota.Run{Token: token}}}}})
	back := mustDecodeResults(t, data)[0].Reply.(*rota.Directed)
	if back.Job.Run.Token != token || !strings.Contains(string(data), string(token[:])) {
		t.Errorf("got %s", back.Job.Run.Token.Reveal())
	}
}

func mustEncodeResults(t testing.TB, results []rota.Result) []byte {
	t.Helper()
	data, err := AppendResults(nil, results)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustDecodeResults(t testing.TB, data []byte) []rota.Result {
	t.Helper()
	results, err := DecodeResults(data)
	if err != nil {
		t.Fatalf("decode %x: %v", data, err)
	}
	return results
}
