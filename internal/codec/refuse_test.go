package codec

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// Each input has one error. A batch is the version, then now (1) and commands (2).
func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, input, field, reason string }{
		{"nothing", "", "version", "empty"},
		{"later version", "\x02", "version", "is 2; this program reads 1"},
		{"unknown field", "\x01\x18\x01", "", "unknown field 3"},
		{"field number zero", "\x01\x00", "", "0 is not a field number"},
		{"wrong wire type", "\x01\x0a\x00", "now", "has wire type 2; expected 0"},
		{"truncated tag", "\x01\x80", "", "ends in the middle"},
		{"truncated number", "\x01\x08\x80", "now", "ends in the middle"},
		{"endless number", "\x01\x08" + strings.Repeat("\xff", 11), "now", "not in its shortest form"},
		{"padded number", "\x01\x08\x82\x00", "now", "not in its shortest form"},
		{"padded tag", "\x01\x88\x00\x02", "", "not in its shortest form"},
		{"padded length", "\x01\x12\x82\x00\x12\x00", "commands[0]", "not in its shortest form"},
		{"given twice", "\x01\x08\x02\x08\x02", "now", "is given twice"},
		{"out of order", "\x01\x12\x02\x12\x00\x08\x02", "now", "comes after commands"},
		{"time out of range", "\x01\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "now", "is in the year 294247"},
		{"zero time", "\x01" + field(1, zigzag(time.Time{}.UnixMicro())), "now", "is zero"},
		{"length past the end", "\x01\x12\x05\x12\x00", "commands[0]", "has a length of 5 bytes, but 2 are left"},
		{"huge length", "\x01\x12\xff\xff\xff\xff\x0f", "commands[0]", "but 0 are left"},
		{"empty command", "\x01\x12\x00", "commands[0]", "ends in the middle"},
		{"unknown command", "\x01\x12\x03\xf2\x05\x00", "commands[0]", "unknown command 94"},
		{"command of another wire type", "\x01\x12\x02\x10\x01", "commands[0]", "has wire type 0; expected 2"},
		{"two commands in one", "\x01\x12\x04\x12\x00\x12\x00", "commands[0]", "has 2 bytes after its command"},
		{"unknown field of a command", command(2, "\x78\x01"), "commands[0]", "unknown field 15"},
		{"zero int", command(2, "\x10\x00"), "commands[0].limit", "is zero"},
		{"empty head", command(2, "\x0a\x00"), "commands[0].meta", "is zero"},
		{"short id", command(2, "\x0a\x03\x0a\x01\x07"), "commands[0].meta.id", "has 1 bytes; expected 16"},
		{"zero id", command(2, "\x0a\x12\x0a\x10"+strings.Repeat("\x00", 16)), "commands[0].meta.id", "is zero"},
		{"empty string", command(2, "\x0a\x02\x12\x00"), "commands[0].meta.actor", "is zero"},
		{"bool beyond one", command(6, "\x12\x02\x50\x02"), "commands[0].items[0].permanent", "is 2; a bool is 0 or 1"},
		{"truncated float", command(1, "\x12\x04\x81\x01\x00\x00"), "commands[0].jobs[0].jitter", "ends in the middle"},
		{"all in all", command(13, "\x12\x02\x6a\x00"), "commands[0].members[0]", "an All cannot contain an All"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeBatch([]byte(test.input))
			checkRefusal(t, err, "decode", test.field, test.reason)
		})
	}
}

// command wraps a body of less than 126 bytes as the only command of a batch.
func command(number byte, body string) string {
	return "\x01\x12" + string([]byte{byte(len(body) + 2), number<<3 | 2, byte(len(body))}) + body
}

func checkRefusal(t *testing.T, err error, act, field, reason string) {
	t.Helper()
	var e *rota.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if e.Code != rota.Invalid || e.Act != act || e.Field != field || !strings.Contains(e.Reason, reason) {
		t.Errorf("got %q (code %s, act %q, field %q)\nwant act %q, field %q, a reason with %q", e, e.Code, e.Act, e.Field, act, field, reason)
	}
}

// The batch has all commands and is truncated at each byte.
func TestDecodeRefusesEveryTruncation(t *testing.T) {
	for _, c := range samples.Commands() {
		data := mustEncode(t, rota.Batch{Commands: []rota.Command{c}})
		for n := 2; n < len(data); n++ {
			if b, err := DecodeBatch(data[:n]); rota.CodeOf(err) != rota.Invalid {
				t.Fatalf("%s cut at %d of %d: got %+v, %v", c.Verb(), n, len(data), b, err)
			}
		}
	}
}

func TestCodecBoundsListsAndBatches(t *testing.T) {
	ready := "\x12\x02\x12\x00"
	tooMany := "\x01" + strings.Repeat(ready, rota.ExpectMax+1)
	_, err := DecodeBatch([]byte(tooMany))
	checkRefusal(t, err, "decode", "commands[50000]", "more than 50000 entries")
	if _, err := DecodeBatch([]byte(tooMany[:len(tooMany)-len(ready)])); err != nil {
		t.Errorf("a full list is refused: %v", err)
	}
	_, err = DecodeBatch(make([]byte, EncodedMax+1))
	checkRefusal(t, err, "decode", "", "at most 67108864")

	_, err = AppendBatch(nil, rota.Batch{Commands: make([]rota.Command, rota.ExpectMax+1)})
	checkRefusal(t, err, "encode", "commands[0]", "the command is nil")
	_, err = AppendBatch(nil, rota.Batch{Commands: []rota.Command{&rota.Enqueue{Jobs: make([]rota.NewJob, rota.ExpectMax+1)}}})
	checkRefusal(t, err, "encode", "commands[0].jobs[50000]", "more than 50000 entries")
	expecting := &rota.Ready{Meta: rota.Meta{Expect: make([]rota.Expectation, rota.ExpectMax)}}
	mustDecode(t, mustEncode(t, rota.Batch{Commands: []rota.Command{expecting}}))

	full := &rota.Enqueue{Jobs: make([]rota.NewJob, rota.JobsMax)}
	_, err = AppendBatch(nil, rota.Batch{Commands: []rota.Command{full, full, full, full, full, full, full, full, full, full}})
	checkRefusal(t, err, "encode", "commands[9].jobs[9990]", "split it")
	large := rota.NewJob{Params: bytes.Repeat([]byte("1"), EncodedMax)}
	_, err = AppendBatch(nil, rota.Batch{Commands: []rota.Command{&rota.Enqueue{Jobs: []rota.NewJob{large}}}})
	checkRefusal(t, err, "encode", "commands[0].jobs[0]", "at most 67108864")
}

// The inputs request the most memory: the maximum number of empty jobs, and a list far
// longer than allowed.
func TestDecodeAllocatesLittle(t *testing.T) {
	full := &rota.Enqueue{Jobs: make([]rota.NewJob, rota.JobsMax)}
	most := mustEncode(t, rota.Batch{Commands: []rota.Command{full, full, full, full, full, full, full, full, full}})
	for _, test := range []struct {
		name  string
		input []byte
		code  rota.Code
		mib   uint64
	}{
		{"the most that is allowed", most, "", 32},
		{"a list too long", []byte("\x01" + strings.Repeat("\x12\x02\x12\x00", 1_000_000)), rota.Invalid, 4},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := DecodeBatch(test.input)
		runtime.ReadMemStats(&after)
		mib := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d KiB of input, %d MiB allocated", test.name, len(test.input)>>10, mib)
		if mib > test.mib || rota.CodeOf(err) != test.code {
			t.Errorf("%s: %d MiB allocated, want at most %d; %v", test.name, mib, test.mib, err)
		}
	}
}

func TestDecodedBatchSharesNoMemory(t *testing.T) {
	want := rota.Batch{Now: samples.Time, Commands: samples.Commands()}
	data := mustEncode(t, want)
	got := mustDecode(t, data)
	clear(data)
	if !reflect.DeepEqual(got, want) {
		t.Error("the batch changed with the bytes it was read from")
	}
}

// foreign implements Command but is not in the closed set.
type foreign struct{ rota.Ready }

func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		name          string
		batch         rota.Batch
		field, reason string
	}{
		{"no command", rota.Batch{Commands: []rota.Command{nil}}, "commands[0]", "the command is nil"},
		{"a nil command", rota.Batch{Commands: []rota.Command{&rota.Ready{}, (*rota.Ready)(nil)}}, "commands[1]", "the command is nil"},
		{"a foreign command", rota.Batch{Commands: []rota.Command{&foreign{}}}, "commands[0]", "codec.foreign is not a command"},
		{"all in all", rota.Batch{Commands: []rota.Command{&rota.All{Members: []rota.Command{&rota.All{}}}}}, "commands[0].members[0]", "cannot contain"},
		{"a far time", rota.Batch{Now: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "now", "is in the year 10000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			prefix := []byte("kept")
			out, err := AppendBatch(prefix, test.batch)
			checkRefusal(t, err, "encode", test.field, test.reason)
			if string(out) != "kept" {
				t.Errorf("left %q behind", out)
			}
		})
	}
}

func TestAppendBatchAppends(t *testing.T) {
	b := rota.Batch{Commands: []rota.Command{&rota.Ready{Meta: samples.Meta(1)}}}
	out, err := AppendBatch([]byte("before"), b)
	if err != nil || string(out) != "before"+string(mustEncode(t, b)) {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestCodecTruncatesTimesToMicroseconds(t *testing.T) {
	zone := time.FixedZone("east", 3600)
	b := mustDecode(t, mustEncode(t, rota.Batch{Now: samples.Time.Add(999).In(zone)}))
	if b.Now != samples.Time {
		t.Errorf("got %v, want %v", b.Now, samples.Time)
	}
	for _, zero := range []time.Time{{}, time.Time{}.In(zone), time.Time{}.Add(999)} {
		if data := mustEncode(t, rota.Batch{Now: zero}); len(data) != 1 {
			t.Errorf("a zero time takes %d bytes", len(data)-1)
		}
	}
	epoch := time.Unix(0, 0).UTC()
	if b := mustDecode(t, mustEncode(t, rota.Batch{Now: epoch})); b.Now != epoch {
		t.Errorf("1970 came back as %v", b.Now)
	}
}

// A specification with an empty list and one with a nil list have the same encoding.
func TestCodecEncodesEmptyListAsNil(t *testing.T) {
	for _, pair := range [][2]rota.Command{
		{&rota.PutThrottle{Spec: rota.ThrottleSpec{Types: []rota.TypeLimit{}, Keys: []rota.KeyLimit{}}}, &rota.PutThrottle{}},
		{&rota.PutSchedule{Spec: rota.ScheduleSpec{Scopes: []rota.Scope{}, At: time.Time{}.Add(1)}, Name: "s"}, &rota.PutSchedule{Name: "s"}},
		{&rota.Direct{Lease: 1, Job: rota.NewJob{RunAt: time.Time{}.Add(1)}}, &rota.Direct{Lease: 1}},
	} {
		data := mustEncode(t, rota.Batch{Commands: pair[:1]})
		if plain := mustEncode(t, rota.Batch{Commands: pair[1:]}); !bytes.Equal(data, plain) {
			t.Errorf("%s: got %x, want %x", pair[0].Verb(), data, plain)
		}
		if back := mustDecode(t, data); !reflect.DeepEqual(back.Commands[0], pair[1]) {
			t.Errorf("got %+v", back.Commands[0])
		}
	}
}
