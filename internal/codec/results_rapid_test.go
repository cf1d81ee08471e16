package codec

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

func TestResultsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := []rota.Result{{}}
		for _, typ := range wireReplies[1:] {
			results = append(results, rota.Result{Reply: drawReply(t, typ)})
		}
		e := &rota.Error{}
		drawFields(t, reflect.ValueOf(e).Elem())
		results = append(results, rota.Result{Err: e})
		data, err := AppendResults(nil, results)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeResults(data)
		if err != nil {
			t.Fatalf("decode %x: %v", data, err)
		}
		if !reflect.DeepEqual(back, results) {
			t.Fatalf("got %+v, want %+v", back, results)
		}
		again, err := AppendResults(nil, back)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("encoded again to %x, %v; want %x", again, err, data)
		}
	})
}

// drawReply fills a reply by reflection, so that the test covers new fields.
func drawReply(t *rapid.T, typ reflect.Type) rota.Reply {
	v := reflect.New(typ)
	drawFields(t, v.Elem())
	return v.Interface().(rota.Reply)
}

func FuzzDecodeResults(f *testing.F) {
	for _, r := range fullReplies() {
		if data := mustEncodeResults(f, []rota.Result{{Reply: r}}); len(data) < 1000 { // the fuzzer minimises longer inputs slowly
			f.Add(data)
		}
	}
	f.Add(mustEncodeResults(f, []rota.Result{{Err: fullError()}, {}, {Reply: &rota.AllDone{Replies: []rota.Reply{nil}}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		results, err := DecodeResults(data)
		if err != nil {
			if rota.CodeOf(err) != rota.Invalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if again := mustEncodeResults(t, results); !bytes.Equal(again, data) {
			t.Fatalf("%x decodes, but encodes to %x", data, again)
		}
	})
}
