package rota_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
	"github.com/rotajobs/rota/internal/samples"
)

func TestCheckCommandRefusesTooLarge(t *testing.T) {
	million := []byte(`{"x":"` + strings.Repeat("p", rota.ParamsMax-8) + `"}`)
	heavy := &rota.Enqueue{Meta: samples.Meta(1)}
	for range 40 {
		heavy.Jobs = append(heavy.Jobs, rota.NewJob{Type: "mail", Params: million})
	}
	paths := make([]string, rota.ArtifactMax)
	for i := range paths {
		paths[i] = "p"
	}
	many := &rota.Note{Meta: samples.Meta(1)}
	for range 60 {
		many.Items = append(many.Items, rota.NoteItem{LeaseRef: samples.Lease(), Artifacts: paths})
	}
	members := &rota.All{Meta: samples.Meta(1)}
	for i := range byte(8) {
		part := &rota.Enqueue{Meta: samples.Meta(i + 2), Jobs: make([]rota.NewJob, rota.JobsMax)}
		for k := range part.Jobs {
			part.Jobs[k].Type = "mail"
		}
		members.Members = append(members.Members, part)
	}
	for name, c := range map[string]rota.Command{"bytes": heavy, "entries": many, "members": members} {
		err := rota.CheckCommand(c)
		if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "split it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	heavy.Jobs = heavy.Jobs[:30]
	if err := rota.CheckCommand(heavy); err != nil {
		t.Errorf("30 MiB: %v", err)
	}
	if _, err := codec.AppendBatch(nil, rota.Batch{Commands: []rota.Command{heavy}}); err != nil {
		t.Errorf("what is valid cannot be encoded: %v", err)
	}
}

func TestCheckCommandRefusesNilMember(t *testing.T) {
	for _, c := range []rota.Command{nil, (*rota.Enqueue)(nil), (*rota.All)(nil), &rota.All{Meta: samples.Meta(1), Members: []rota.Command{(*rota.Cancel)(nil)}}} {
		if err := rota.CheckCommand(c); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%#v: %v", c, err)
		}
	}
}

func TestAllRefusesRepeatedCommandIDs(t *testing.T) {
	one := &rota.Cancel{Meta: samples.Meta(1), JobID: samples.ID(2)}
	err := rota.CheckCommand(&rota.All{Meta: samples.Meta(1), Members: []rota.Command{one}})
	if e, ok := err.(*rota.Error); !ok || e.Field != "members[0].id" {
		t.Errorf("the id of the All itself: %v", err)
	}
	err = rota.CheckCommand(&rota.All{Meta: samples.Meta(9), Members: []rota.Command{one, one}})
	if e, ok := err.(*rota.Error); !ok || e.Field != "members[1].id" {
		t.Errorf("the id of another member: %v", err)
	}
}

// The commands have the maximum size: jobs with long names and keys, and params that use
// the rest.
func TestLargestValidCommandsCanBeEncoded(t *testing.T) {
	name, key := strings.Repeat("n", rota.NameMax), strings.Repeat("k", rota.KeyMax)
	small := rota.NewJob{Type: name, Name: name, Template: name, ScopeKind: name, ScopeID: "7", ConcurrencyKey: &key}
	large := rota.NewJob{Type: "mail", Params: []byte(`{"x":"` + strings.Repeat("p", rota.ParamsMax-8) + `"}`)}
	all := &rota.All{Meta: samples.Meta(1)}
	for n := range byte(rota.CommandEntriesMax / rota.JobsMax) {
		all.Members = append(all.Members, &rota.Enqueue{Meta: samples.Meta(n + 2), Jobs: slices.Repeat([]rota.NewJob{small}, rota.JobsMax-10)})
		if rota.CheckCommand(all) != nil {
			all.Members = all.Members[:n]
		}
	}
	_, weight := rota.Weigh(all)
	fits := (rota.CommandBytesMax - weight) / (rota.ParamsMax + rota.EntryBytes)
	all.Members = append(all.Members, &rota.Enqueue{Meta: samples.Meta(0xff), Jobs: slices.Repeat([]rota.NewJob{large}, fits)})
	if err := rota.CheckCommand(all); err != nil {
		t.Fatal(err)
	}
	data, err := codec.AppendBatch(nil, rota.Batch{Commands: []rota.Command{all}})
	if err != nil {
		t.Errorf("what is valid cannot be encoded: %v", err)
	}
	entries, weight := rota.Weigh(all)
	t.Logf("%d entries, reckoned %s, encoded %s", entries, rota.Mebibytes(weight), rota.Mebibytes(len(data)))
}
