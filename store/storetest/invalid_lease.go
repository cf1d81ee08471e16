package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Invalid fields of commands with leases. The first item is always valid. This detects a store
// that applies it before it has checked the others.

// badRefs returns changes that remove a part of a lease.
func badRefs() map[string]func(*rota.LeaseRef) {
	return map[string]func(*rota.LeaseRef){
		"items[1].job_id":      func(r *rota.LeaseRef) { r.JobID = rota.ID{} },
		"items[1].run_id":      func(r *rota.LeaseRef) { r.RunID = rota.ID{} },
		"items[1].lease_token": func(r *rota.LeaseRef) { r.Token = rota.Token{} },
	}
}

func invalidExtends() []invalidCase {
	set := func(field string, change func(*rota.Extend)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			it := rota.ExtendItem{LeaseRef: leaseOf(fx.running)}
			c := &rota.Extend{Meta: fx.ids.meta(), Lease: 2 * lease, Items: []rota.ExtendItem{it, it}}
			change(c)
			return c
		}}
	}
	cases := []invalidCase{
		set("lease", func(c *rota.Extend) { c.Lease = rota.LeaseMin - 1 }),
		set("lease", func(c *rota.Extend) { c.Lease = rota.LeaseMax + 1 }),
		set("items", func(c *rota.Extend) { c.Items = nil }),
		set("items", func(c *rota.Extend) { c.Items = slices.Repeat(c.Items[:1], rota.ItemsMax+1) }),
		set("items[1].progress", func(c *rota.Extend) { c.Items[1].Progress = json.RawMessage(`{`) }),
		set("items[1].progress", func(c *rota.Extend) { c.Items[1].Progress = oversized(rota.ProgressMax) }),
	}
	for field, invalidate := range badRefs() {
		cases = append(cases, set(field, func(c *rota.Extend) { invalidate(&c.Items[1].LeaseRef) }))
	}
	return cases
}

func invalidNotes() []invalidCase {
	set := func(field string, change func(*rota.Note)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			it := rota.NoteItem{LeaseRef: leaseOf(fx.running), Artifacts: []string{"a"}}
			c := &rota.Note{Meta: fx.ids.meta(), Items: []rota.NoteItem{it, it}}
			change(c)
			return c
		}}
	}
	cases := []invalidCase{
		set("items", func(c *rota.Note) { c.Items = nil }),
		set("items[1].progress", func(c *rota.Note) { c.Items[1].Progress = json.RawMessage(`nope`) }),
		set("items[1].artifacts", func(c *rota.Note) {
			c.Items[1].Artifacts = slices.Repeat([]string{"a"}, rota.ArtifactMax+1)
		}),
		set("items[1].artifacts[1]", func(c *rota.Note) { c.Items[1].Artifacts = []string{"a", ""} }),
		set("items[1].artifacts[0]", func(c *rota.Note) { c.Items[1].Artifacts = []string{strings.Repeat("x", rota.PathMax+1)} }),
		set("items[1].log_path", func(c *rota.Note) { c.Items[1].LogPath = strings.Repeat("x", rota.PathMax+1) }),
	}
	for field, invalidate := range badRefs() {
		cases = append(cases, set(field, func(c *rota.Note) { invalidate(&c.Items[1].LeaseRef) }))
	}
	return cases
}

func invalidFinishes() []invalidCase {
	set := func(field string, change func(*rota.FinishItem)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			it := rota.FinishItem{LeaseRef: leaseOf(fx.running), Outcome: rota.OutcomeFailed}
			c := &rota.Finish{Meta: fx.ids.meta(), Items: []rota.FinishItem{it, it}}
			change(&c.Items[1])
			return c
		}}
	}
	cases := []invalidCase{
		{"items", func(fx *fixture) rota.Command { return &rota.Finish{Meta: fx.ids.meta()} }},
		set("items[1].outcome", func(it *rota.FinishItem) { it.Outcome = "" }),
		set("items[1].outcome", func(it *rota.FinishItem) { it.Outcome = "completed" }),
		set("items[1].error", func(it *rota.FinishItem) { it.Error = "\xff" }),
		set("items[1].error", func(it *rota.FinishItem) { it.Error = "a\x00" }),
		set("items[1].error_code", func(it *rota.FinishItem) { it.ErrorCode = strings.Repeat("x", rota.KeyMax+1) }),
		set("items[1].result", func(it *rota.FinishItem) { it.Result = json.RawMessage(`{"a"}`) }),
		set("items[1].result", func(it *rota.FinishItem) { it.Result = oversized(rota.ResultMax) }),
		set("items[1].artifacts[0]", func(it *rota.FinishItem) { it.Artifacts = []string{""} }),
		set("items[1].log_path", func(it *rota.FinishItem) { it.LogPath = "a\x00" }),
		set("items[1].retry_at", func(it *rota.FinishItem) { it.RetryAt = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC) }),
	}
	for field, invalidate := range badRefs() {
		cases = append(cases, set(field, func(it *rota.FinishItem) { invalidate(&it.LeaseRef) }))
	}
	return cases
}

func invalidAlls() []invalidCase {
	return []invalidCase{
		{"members", func(fx *fixture) rota.Command { return fx.allOf() }},
		{"members[1]", func(fx *fixture) rota.Command { return fx.allOf(fx.enqueueCommand(rota.NewJob{}), nil) }},
		{"members[1].id", func(fx *fixture) rota.Command {
			c := fx.enqueueCommand(rota.NewJob{})
			c.ID = rota.ID{}
			return fx.allOf(fx.enqueueCommand(rota.NewJob{}), c)
		}},
		{"members[1].job_id", func(fx *fixture) rota.Command {
			return fx.allOf(fx.enqueueCommand(rota.NewJob{}), fx.cancelCommand(rota.ID{}))
		}},
	}
}
