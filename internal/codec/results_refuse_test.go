package codec

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// Each input has one error. Results are the version, then one result (1) each: its reply (1)
// and its error (2).
func TestDecodeResultsRefuses(t *testing.T) {
	tests := []struct{ name, input, field, reason string }{
		{"nothing", "", "version", "empty"},
		{"later version", "\x02", "version", "is 2; this program reads 1"},
		{"unknown field", "\x01\x10\x01", "", "unknown field 2"},
		{"unknown field of a result", result("\x1a\x00"), "results[0]", "unknown field 3"},
		{"unknown field of a reply", reply(2, "\x18\x01"), "results[0].reply", "unknown field 3"},
		{"unknown field of an error", result("\x12\x02\x3a\x00"), "results[0].err", "unknown field 7"},
		{"unknown field of a job", reply(8, "\x0a\x03\xb2\x02\x00"), "results[0].reply.job", "unknown field 38"},
		{"unknown reply", result("\x0a\x03\xf2\x05\x00"), "results[0].reply", "unknown reply 94"},
		{"reply of another wire type", result("\x0a\x02\x10\x01"), "results[0].reply", "has wire type 0; expected 2"},
		{"nil reply that is not omitted", result("\x0a\x00"), "results[0].reply", "is zero"},
		{"two replies in one", result("\x0a\x04\x12\x00\x12\x00"), "results[0].reply", "has 2 bytes after its reply"},
		{"error before reply", result("\x12\x00\x0a\x02\x12\x00"), "results[0].reply", "comes after err"},
		{"given twice", result("\x12\x00\x12\x00"), "results[0].err", "is given twice"},
		{"zero int", reply(2, "\x08\x00"), "results[0].reply.count", "is zero"},
		{"zero bool", reply(2, "\x10\x00"), "results[0].reply.more", "is zero"},
		{"bool beyond one", reply(2, "\x10\x02"), "results[0].reply.more", "is 2; a bool is 0 or 1"},
		{"uint beyond its type", reply(8, "\x0a\x03\x38\x80\x02"), "results[0].reply.job.hold", "is 256"},
		{"zero uint", reply(8, "\x0a\x02\x38\x00"), "results[0].reply.job.hold", "is zero"},
		{"padded number", reply(2, "\x08\x82\x00"), "results[0].reply.count", "not in its shortest form"},
		{"empty policy", reply(8, "\x0a\x02\x72\x00"), "results[0].reply.job.policy", "is zero"},
		{"short id", reply(10, "\x12\x01\x07"), "results[0].reply.last", "has 1 bytes; expected 16"},
		{"length past the end", result("\x0a\x04\x12\x02\x08"), "results[0].reply", "has a length of 4 bytes, but 3 are left"},
		{"truncated", reply(2, "\x08"), "results[0].reply.count", "ends in the middle"},
		{"trailing bytes", result("") + "\x00", "", "0 is not a field number"},
		{"all in all", reply(13, "\x0a\x02\x6a\x00"), "results[0].reply.replies[0]", "an AllDone cannot contain an AllDone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeResults([]byte(test.input))
			checkRefusal(t, err, "decode", test.field, test.reason)
		})
	}
}

// result wraps a body of less than 128 bytes as the only result.
func result(body string) string { return "\x01\x0a" + string([]byte{byte(len(body))}) + body }

// reply wraps a body of less than 120 bytes as the only reply.
func reply(number byte, body string) string {
	return result("\x0a" + string([]byte{byte(len(body) + 2), number<<3 | 2, byte(len(body))}) + body)
}

func TestDecodeResultsRefusesEveryTruncation(t *testing.T) {
	results := []rota.Result{{Err: fullError()}}
	for _, r := range fullReplies() {
		results = append(results, rota.Result{Reply: r})
	}
	for _, r := range results {
		data := mustEncodeResults(t, []rota.Result{r})
		for n := 2; n < len(data); n++ {
			if back, err := DecodeResults(data[:n]); rota.CodeOf(err) != rota.Invalid {
				t.Fatalf("%T cut at %d of %d: got %+v, %v", r.Reply, n, len(data), back, err)
			}
		}
	}
}

func TestAppendResultsRefuses(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name          string
		reply         rota.Reply
		field, reason string
	}{
		{"a nil pointer", (*rota.Readied)(nil), "reply", "the reply is nil"},
		{"a foreign reply", foreignReply{&rota.Readied{}}, "reply", "the reply is nil"},
		{"a foreign pointer", &foreignReply{&rota.Readied{}}, "reply", "codec.foreignReply is not a reply"},
		{"a nil job", &rota.Claimed{Jobs: []*rota.Job{nil}}, "reply.jobs[0]", "the entry is nil"},
		{"all in all", &rota.AllDone{Replies: []rota.Reply{&rota.AllDone{}}}, "reply.replies[0]", "cannot contain"},
		{"a far time", &rota.Claimed{Now: far}, "reply.now", "is in the year 10000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bad := rota.Result{Reply: test.reply}
			out, err := AppendResults([]byte("kept"), []rota.Result{{}, bad})
			checkRefusal(t, err, "encode", "results[1]."+test.field, test.reason)
			single, err := AppendResult([]byte("kept"), bad)
			checkRefusal(t, err, "encode", test.field, test.reason)
			if string(out) != "kept" || string(single) != "kept" {
				t.Errorf("left %q and %q behind", out, single)
			}
		})
	}
}

// foreignReply implements Reply but is not in the closed set.
type foreignReply struct{ rota.Reply }

// The lists take the most memory for their length. What the decoder would refuse, the encoder
// refuses too.
func TestDecodeResultsAllocatesLittle(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name string
		body string // of a list of entries
		code rota.Code
	}{
		{"a few empty jobs", reply(3, "") + strings.Repeat("\x0a\x06\x0a\x04\x1a\x02\x0a\x00", 10_000), ""},
		{"many empty jobs", reply(3, "") + strings.Repeat("\x0a\x06\x0a\x04\x1a\x02\x0a\x00", mib/8), rota.Invalid},
		{"many empty results", "\x01" + strings.Repeat("\x0a\x00", mib/2), ""},
		{"many errors", "\x01" + strings.Repeat("\x0a\x02\x12\x00", mib/2), rota.Invalid},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		back, err := DecodeResults([]byte(test.body))
		runtime.ReadMemStats(&after)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d KiB of input, %d MiB allocated", test.name, len(test.body)>>10, allocated>>20)
		// The Go runtime rounds sizes up by at most an eighth.
		if most := (memoryBase + memoryFactor*len(test.body)) * 9 / 8; allocated > most+mib || rota.CodeOf(err) != test.code {
			t.Errorf("%s: %d bytes allocated, want at most %d; %v", test.name, allocated, most, err)
		}
		if err == nil {
			if again := mustEncodeResults(t, back); string(again) != test.body {
				t.Errorf("%s: encoded again to other bytes", test.name)
			}
		}
	}
	jobs := make([]*rota.Job, 50_000)
	for i := range jobs {
		jobs[i] = &rota.Job{}
	}
	_, err := AppendResults(nil, []rota.Result{{Reply: &rota.Triggered{Jobs: jobs}}})
	checkRefusal(t, err, "encode", "", "bytes of memory; split it")
}

func TestLongResultsAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 300 MB of memory")
	}
	result := rota.Result{Reply: &rota.Edited{Job: &rota.Job{Params: bytes.Repeat([]byte("1"), ResultsMax)}}}
	_, err := AppendResults(nil, []rota.Result{result})
	checkRefusal(t, err, "encode", "results[0].reply.job", "at most 268435456")
	single, err := AppendResult(nil, result)
	if err != nil {
		t.Errorf("one long result is refused: %v", err)
	}
	_, err = DecodeResults(single)
	checkRefusal(t, err, "decode", "", "at most 268435456")
}

func TestPlanRefusesUnexportedFields(t *testing.T) {
	type closed struct {
		a int `wire:"1"`
	}
	if _, err := planOf(reflect.TypeFor[closed]()); err == nil || !strings.Contains(err.Error(), "not exported") {
		t.Errorf("got %v", err)
	}
	_ = closed{}.a
}
