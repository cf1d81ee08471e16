package logstore_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/internal/samples"
)

func sampleEntries() map[string]logstore.Entry {
	prune := &rota.AuditPrune{After: 3, Anchor: rota.AuditAnchor{
		AuditPoint: rota.AuditPoint{Seq: 1 << 60, Hash: rota.AuditHash{1, 31: 2}}, RemovedBefore: samples.Time.Add(123), Key: []byte{1, 2}, Signature: []byte{3, 0},
	}}
	shared := []rota.Event{{Kind: rota.EventGroupFinished, At: samples.Time, GroupID: samples.ID(7)}, {Kind: rota.EventNodeLeft, At: samples.Time, Name: "a", Detail: "ü"}}
	all := rota.Batch{Now: samples.Time, Commands: samples.Commands()}
	return map[string]logstore.Entry{
		"nothing":           {},
		"commands":          {Batch: all},
		"without a time":    {Batch: rota.Batch{Commands: samples.Commands()}},
		"prune":             {Prune: prune},
		"prune, not signed": {Prune: &rota.AuditPrune{Anchor: rota.AuditAnchor{RemovedBefore: samples.Time}}},
		"events":            {Shared: shared},
		"everything":        {Batch: all, Prune: prune, Shared: shared},
	}
}

func encode(t testing.TB, e logstore.Entry) []byte {
	t.Helper()
	b, err := logstore.AppendEntry([]byte("before"), &e)
	if err != nil {
		t.Fatal(err)
	}
	body, found := bytes.CutPrefix(b, []byte("before"))
	if !found {
		t.Fatal("AppendEntry does not append")
	}
	return body
}

func TestEntriesAreDecodedAsTheyWere(t *testing.T) {
	for name, e := range sampleEntries() {
		got, err := logstore.DecodeEntry(encode(t, e))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(got.Batch.Commands) == 0 {
			got.Batch.Commands = e.Batch.Commands
		}
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%s: decoded %+v, want %+v", name, got, e)
		}
	}
}

// TestEntryFreezesWaits encodes a Finish that has waited.
func TestEntryFreezesWaits(t *testing.T) {
	f := &rota.Finish{Meta: samples.Meta(1), Sent: time.Now().Add(-time.Hour), Items: []rota.FinishItem{{LeaseRef: samples.Lease(), Outcome: rota.OutcomeCompleted}}}
	got, err := logstore.DecodeEntry(encode(t, logstore.Entry{Batch: rota.Batch{Now: samples.Time, Commands: []rota.Command{f}}}))
	if err != nil {
		t.Fatal(err)
	}
	if ago := got.Batch.Commands[0].(*rota.Finish).Items[0].EndedAgo; ago < time.Hour || ago > 2*time.Hour {
		t.Errorf("ended %s ago", ago)
	}
}

func TestDamagedEntriesAreRefused(t *testing.T) {
	field := func(number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag([]byte{0xff}, number, protowire.BytesType), value)
	}
	bad := map[string][]byte{
		"an unknown field":      field(4, nil),
		"a field number of 0":   append([]byte{0xff}, 2),
		"a number as batch":     protowire.AppendVarint(protowire.AppendTag([]byte{0xff}, 1, protowire.VarintType), 7),
		"an empty prune":        field(2, nil),
		"a prune of no JSON":    field(2, []byte("{")),
		"a prune of wrong type": field(2, []byte(`{"After":"x"}`)),
		"events that are none":  field(3, []byte{0xff}),
		"a batch that is none":  field(1, []byte{0xfe, 0xfe}),
		"nothing at all":        nil,
		"a later batch":         {0xfe},
	}
	for name, data := range bad {
		if _, err := logstore.DecodeEntry(data); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, e := range sampleEntries() {
		body := encode(t, e)
		if body[0] != 0xff {
			continue // the codec of batches has its own tests
		}
		fields := map[int]bool{len(body): true, 1: true} // where a shorter entry is one, too
		for at := 1; at < len(body); {
			_, _, n := protowire.ConsumeField(body[at:])
			at += n
			fields[at] = true
		}
		for n := range body {
			if _, err := logstore.DecodeEntry(body[:n]); err == nil && !fields[n] {
				t.Errorf("%s: the first %d of %d bytes are accepted", name, n, len(body))
			}
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	for _, e := range sampleEntries() {
		f.Add(encode(f, e))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := logstore.DecodeEntry(data)
		if err != nil {
			return
		}
		body, err := logstore.AppendEntry(nil, &e)
		if err != nil {
			return // a time in the JSON of a prune may be out of range
		}
		again, err := logstore.DecodeEntry(body)
		if err != nil {
			t.Fatal(err)
		}
		second, err := logstore.AppendEntry(nil, &again)
		if err != nil || !bytes.Equal(body, second) {
			t.Errorf("encoded as %x, then as %x, %v", body, second, err)
		}
	})
}
