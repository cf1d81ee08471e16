package rota

import (
	"slices"
	"strings"
	"testing"
)

func TestCheckCommandRefusesTooLarge(t *testing.T) {
	million := []byte(`{"x":"` + strings.Repeat("p", ParamsMax-8) + `"}`)
	heavy := &Enqueue{Meta: sampleMeta(1)}
	for range 40 {
		heavy.Jobs = append(heavy.Jobs, NewJob{Type: "mail", Params: million})
	}
	paths := make([]string, ArtifactMax)
	for i := range paths {
		paths[i] = "p"
	}
	many := &Note{Meta: sampleMeta(1)}
	for range 60 {
		many.Items = append(many.Items, NoteItem{LeaseRef: sampleLease(), Artifacts: paths})
	}
	members := &All{Meta: sampleMeta(1)}
	for i := range byte(8) {
		part := &Enqueue{Meta: sampleMeta(i + 2), Jobs: make([]NewJob, JobsMax)}
		for k := range part.Jobs {
			part.Jobs[k].Type = "mail"
		}
		members.Members = append(members.Members, part)
	}
	for name, c := range map[string]Command{"bytes": heavy, "entries": many, "members": members} {
		err := CheckCommand(c)
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), "split it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	heavy.Jobs = heavy.Jobs[:30]
	if err := CheckCommand(heavy); err != nil {
		t.Errorf("30 MiB: %v", err)
	}
	if _, err := AppendBatch(nil, Batch{Commands: []Command{heavy}}); err != nil {
		t.Errorf("what is valid cannot be encoded: %v", err)
	}
}

func TestCheckCommandRefusesNilMember(t *testing.T) {
	for _, c := range []Command{nil, (*Enqueue)(nil), (*All)(nil), &All{Meta: sampleMeta(1), Members: []Command{(*Cancel)(nil)}}} {
		if err := CheckCommand(c); CodeOf(err) != Invalid {
			t.Errorf("%#v: %v", c, err)
		}
	}
}

func TestAllRefusesRepeatedCommandIDs(t *testing.T) {
	one := &Cancel{Meta: sampleMeta(1), JobID: sampleID(2)}
	err := CheckCommand(&All{Meta: sampleMeta(1), Members: []Command{one}})
	if e, ok := err.(*Error); !ok || e.Field != "members[0].id" {
		t.Errorf("the id of the All itself: %v", err)
	}
	err = CheckCommand(&All{Meta: sampleMeta(9), Members: []Command{one, one}})
	if e, ok := err.(*Error); !ok || e.Field != "members[1].id" {
		t.Errorf("the id of another member: %v", err)
	}
}

// The commands have the maximum size: jobs with long names and keys, and params that use
// the rest.
func TestLargestValidCommandsCanBeEncoded(t *testing.T) {
	name, key := strings.Repeat("n", NameMax), strings.Repeat("k", KeyMax)
	small := NewJob{Type: name, Name: name, Template: name, ScopeKind: name, ScopeID: "7", ConcurrencyKey: &key}
	large := NewJob{Type: "mail", Params: []byte(`{"x":"` + strings.Repeat("p", ParamsMax-8) + `"}`)}
	all := &All{Meta: sampleMeta(1)}
	for n := range byte(CommandEntriesMax / JobsMax) {
		all.Members = append(all.Members, &Enqueue{Meta: sampleMeta(n + 2), Jobs: slices.Repeat([]NewJob{small}, JobsMax-10)})
		if CheckCommand(all) != nil {
			all.Members = all.Members[:n]
		}
	}
	_, weight := Weigh(all)
	fits := (CommandBytesMax - weight) / (ParamsMax + entryBytes)
	all.Members = append(all.Members, &Enqueue{Meta: sampleMeta(0xff), Jobs: slices.Repeat([]NewJob{large}, fits)})
	if err := CheckCommand(all); err != nil {
		t.Fatal(err)
	}
	data, err := AppendBatch(nil, Batch{Commands: []Command{all}})
	if err != nil {
		t.Errorf("what is valid cannot be encoded: %v", err)
	}
	entries, weight := Weigh(all)
	t.Logf("%d entries, reckoned %s, encoded %s", entries, mebibytes(weight), mebibytes(len(data)))
}
