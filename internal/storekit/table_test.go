package storekit

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestChangeWritesOnlyTheColumnsOfItsKind(t *testing.T) {
	was := &rota.Type{Name: "mail", Version: rota.ID{1}, CreatedBy: "ann", CreatedAt: time.UnixMicro(5), UpdatedAt: time.UnixMicro(5)}
	is := *was
	is.Paused, is.Version = true, rota.ID{2}
	spec := string(rota.EncodeSpec(is.Spec))
	for name, test := range map[string]struct {
		was, is *rota.Type
		want    []Statement
	}{
		"insert": {nil, &is, []Statement{{`
INSERT INTO rota_types (name, paused, version, created_by, created_at, updated_at, spec)
VALUES ($1, $2, $3, $4, $5, $6, $7)`, []any{"mail", true, rota.ID{2}, "ann", int64(5), int64(5), spec}}}},
		"update": {was, &is, []Statement{{`
UPDATE rota_types
SET paused = $2, version = $3, updated_at = $4, spec = $5
WHERE name = $1`, []any{"mail", true, rota.ID{2}, int64(5), spec}}}},
		"delete": {was, nil, []Statement{{`
DELETE FROM rota_types
WHERE name = $1`, []any{"mail"}}}},
	} {
		if got := Types.Change(test.was, test.is); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestNewGroupIsInsertedWithoutItsEnd checks that a column that the table refuses in an insert is
// written by an update, and only if it has a value.
func TestNewGroupIsInsertedWithoutItsEnd(t *testing.T) {
	g := &rota.Group{ID: rota.ID{1}, Mode: "parallel", OnFailure: "stop", Size: 2}
	if got := Groups.Change(nil, g); len(got) != 1 {
		t.Errorf("a group without an end is written by %+v", got)
	}
	g.Ending, g.Pruned.Dead = "stop", 1
	got := Groups.Change(nil, g)
	if len(got) != 2 {
		t.Fatalf("a group with an end is written by %+v", got)
	}
	want := []any{rota.ID{1}, "stop", Null{Text}, Null{Text}, `{"dead":1}`}
	if !reflect.DeepEqual(got[1].Args, want) {
		t.Errorf("the update has %+v, want %+v", got[1].Args, want)
	}
}

func TestRecreatedScheduleIsDeletedAndInserted(t *testing.T) {
	was := &rota.Schedule{Name: "nightly", CreatedAt: time.UnixMicro(1)}
	is := &rota.Schedule{Name: "nightly", CreatedAt: time.UnixMicro(2)}
	if got := Schedules.Change(was, is); len(got) != 2 || got[0].SQL != Schedules.remove || got[1].SQL != Schedules.insert {
		t.Errorf("it is written by %+v", got)
	}
	is.CreatedAt = was.CreatedAt
	if got := Schedules.Change(was, is); len(got) != 1 || got[0].SQL != Schedules.update {
		t.Errorf("a changed one is written by %+v", got)
	}
}

// TestUpsertInsertsOrUpdates checks that a table with upserts writes a new and a changed row by one
// statement, and that no other table has such a statement.
func TestUpsertInsertsOrUpdates(t *testing.T) {
	is := &rota.Bucket{Type: "mail", Slot: 7}
	want := []Statement{{`
INSERT INTO rota_buckets (type, slot, starts)
VALUES ($1, $2, $3)
ON CONFLICT (type) DO UPDATE
SET slot = excluded.slot, starts = excluded.starts`, Buckets.InsertArgs(is)}}
	for _, was := range []*rota.Bucket{nil, {Type: "mail"}} {
		if got := Buckets.Change(was, is); !reflect.DeepEqual(got, want) {
			t.Errorf("a change from %v is written by %+v, want %+v", was, got, want)
		}
	}
	for name, sql := range map[string]string{"types": Types.insert, "audit entries": Audit.insert} {
		if strings.Contains(sql, "ON CONFLICT") {
			t.Errorf("%s have %s", name, sql)
		}
	}
}

// TestFilterNumbersItsArguments checks that the placeholders of conditions are those of their
// arguments.
func TestFilterNumbersItsArguments(t *testing.T) {
	f := FilterOf(&rota.JobQuery{After: rota.ID{9}, Type: "mail", Schedule: "nightly", Tails: true}, "")
	limit := f.Limit(10)
	if want := `j.id > $1 AND j.type = $2 AND j.schedule = $3 AND j.sequel IS DISTINCT FROM 'retry'`; f.SQL() != want {
		t.Errorf("the condition is %s, want %s", f.SQL(), want)
	}
	if want := []any{rota.ID{9}, "mail", "nightly", 10}; limit != "$4" || !reflect.DeepEqual(f.Args(), want) {
		t.Errorf("the limit is %s, the arguments %v, want %v", limit, f.Args(), want)
	}
}

// TestHalvesRefuseOnlyTheCommandThatViolatesAConstraint applies a batch of which one command cannot
// be written.
func TestHalvesRefuseOnlyTheCommandThatViolatesAConstraint(t *testing.T) {
	bad := &rota.Sweep{Limit: 3}
	violated := &rota.Error{Code: rota.Conflict, Reason: "constraint"}
	results, err := ApplyHalves(rota.Batch{Commands: []rota.Command{&rota.Sweep{}, &rota.Sweep{}, bad, &rota.Sweep{}}},
		func(err error) bool { return err == violated },
		func(b rota.Batch) ([]rota.Result, error) {
			for _, c := range b.Commands {
				if c == bad {
					return nil, violated
				}
			}
			return make([]rota.Result, len(b.Commands)), nil
		})
	if err != nil || len(results) != 4 {
		t.Fatalf("%v, %v", results, err)
	}
	for i, r := range results {
		if (r.Err != nil) != (i == 2) {
			t.Errorf("command %d: %v", i, r.Err)
		}
	}
}
