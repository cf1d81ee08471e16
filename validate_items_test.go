package rota_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func extendRefusals() []refusal {
	return []refusal{
		breaks("no lease", func(c *rota.Extend) { c.Lease = 0 }, "lease", "is 0s; allowed are 1s to 1h"),
		breaks("no items", func(c *rota.Extend) { c.Items, c.ReservationID = nil, rota.ID{} }, "items", "has 0 entries; allowed are 1 to 10000"),
		breaks("many items", func(c *rota.Extend) { c.Items = make([]rota.ExtendItem, rota.ItemsMax+1) }, "items", "has 10001 entries"),
		breaks("no job", func(c *rota.Extend) { c.Items[0].JobID = rota.ID{} }, "items[0].job_id", "is empty"),
		breaks("no run", func(c *rota.Extend) { c.Items[0].RunID = rota.ID{} }, "items[0].run_id", "is empty"),
		breaks("no token", func(c *rota.Extend) { c.Items[0].Token = rota.Token{} }, "items[0].lease_token", "is empty"),
		breaks("bad progress", func(c *rota.Extend) { c.Items[0].Progress = json.RawMessage("half") }, "items[0].progress", "is not JSON"),
		breaks("progress of no bytes", func(c *rota.Extend) { c.Items[0].Progress = json.RawMessage{} }, "items[0].progress", "is not JSON"),
		breaks("large progress", func(c *rota.Extend) { c.Items[0].Progress = make(json.RawMessage, rota.ProgressMax+1) }, "items[0].progress", "has 1025 bytes"),
		breaks("deep progress", func(c *rota.Extend) { c.Items[0].Progress = nested(rota.DepthMax + 1) }, "items[0].progress", "is nested more than 500 deep"),
	}
}

func noteRefusals() []refusal {
	return []refusal{
		breaks("no items", func(c *rota.Note) { c.Items = nil }, "items", "has 0 entries"),
		breaks("no token", func(c *rota.Note) { c.Items[0].Token = rota.Token{} }, "items[0].lease_token", "is empty"),
		breaks("bad progress", func(c *rota.Note) { c.Items[0].Progress = json.RawMessage("{") }, "items[0].progress", "is not JSON"),
		breaks("deep progress", func(c *rota.Note) { c.Items[0].Progress = nested(rota.DepthMax + 1) }, "items[0].progress", "is nested more than 500 deep"),
		breaks("an empty path", func(c *rota.Note) { c.Items[0].Artifacts[1] = "" }, "items[0].artifacts[1]", "is empty"),
		breaks("a long path", func(c *rota.Note) { c.Items[0].Artifacts[0] = strings.Repeat("x", rota.PathMax+1) }, "items[0].artifacts[0]", "has 4097 bytes"),
		breaks("many paths", func(c *rota.Note) { c.Items[0].Artifacts = make([]string, rota.ArtifactMax+1) }, "items[0].artifacts", "has 1001 entries; at most 1000"),
		breaks("a log path with NUL", func(c *rota.Note) { c.Items[0].LogPath = "a\x00b" }, "items[0].log_path", "NUL"),
	}
}

func finishRefusals() []refusal {
	item := func(name string, change func(*rota.FinishItem), field, reason string) refusal {
		return breaks(name, func(c *rota.Finish) { change(&c.Items[0]) }, "items[0]."+field, reason)
	}
	return []refusal{
		breaks("no items", func(c *rota.Finish) { c.Items = nil }, "items", "has 0 entries"),
		item("no token", func(it *rota.FinishItem) { it.Token = rota.Token{} }, "lease_token", "is empty"),
		item("no outcome", func(it *rota.FinishItem) { it.Outcome = "" }, "outcome", `is ""; allowed are COMPLETED, FAILED, SKIPPED, CANCELLED`),
		item("an unknown outcome", func(it *rota.FinishItem) { it.Outcome = "done" }, "outcome", `is "done"`),
		item("an error not UTF-8", func(it *rota.FinishItem) { it.Error = "\xff" }, "error", "UTF-8"),
		item("a long error code", func(it *rota.FinishItem) { it.ErrorCode = strings.Repeat("x", rota.KeyMax+1) }, "error_code", "has 513 bytes"),
		item("a bad result", func(it *rota.FinishItem) { it.Result = json.RawMessage("nope") }, "result", "is not JSON"),
		item("a large result", func(it *rota.FinishItem) { it.Result = make(json.RawMessage, rota.ResultMax+1) }, "result", "has 65537 bytes"),
		item("a deep result", func(it *rota.FinishItem) { it.Result = nested(rota.DepthMax + 1) }, "result", "is nested more than 500 deep"),
		item("one deeper than any JSON", func(it *rota.FinishItem) { it.Result = nested(20_000) }, "result", "is nested more than 500 deep"),
		item("an empty path", func(it *rota.FinishItem) { it.Artifacts[0] = "" }, "artifacts[0]", "is empty"),
		item("a long log path", func(it *rota.FinishItem) { it.LogPath = strings.Repeat("x", rota.PathMax+1) }, "log_path", "has 4097 bytes"),
		item("retry_at before 1970", func(it *rota.FinishItem) { it.RetryAt = samples.Time.AddDate(-100, 0, 0) }, "retry_at", "the year 1926"),
	}
}

// nested returns JSON of a depth.
func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

// JSONDepth ignores brackets in strings.
func TestJSONDepthIgnoresStrings(t *testing.T) {
	for doc, want := range map[string]int{
		`7`: 0, `""`: 0, `[]`: 1, `{"a":[{}],"b":[[]]}`: 3, `[[],[],[]]`: 2, `"[[["`: 0, `{"[\"[":"\\","b":[]}`: 2, `["\\\"[[",{}]`: 2,
		string(nested(rota.DepthMax)): rota.DepthMax, `"\`: 0, `]]][[`: 0,
	} {
		if got := rota.JSONDepth([]byte(doc)); got != want {
			t.Errorf("%.40s: %d, want %d", doc, got, want)
		}
	}
	if err := rota.CheckJSON("result", nested(rota.DepthMax), rota.ResultMax); err != nil {
		t.Errorf("as deep as may be: %v", err)
	}
}

func editRefusals() []refusal {
	return []refusal{
		breaks("no job", func(c *rota.Edit) { c.JobID = rota.ID{} }, "job_id", "is empty"),
		breaks("nothing", func(c *rota.Edit) { c.Priority, c.Params = nil, nil }, "", "set at least one of priority, params, merge_params, run_at and delay"),
		breaks("low priority", func(c *rota.Edit) { c.Priority = new(rota.PriorityMin - 1) }, "priority", "is -1000001"),
		breaks("params a string", func(c *rota.Edit) { c.Params = json.RawMessage(`"x"`) }, "params", "is not a JSON object"),
		breaks("params of no bytes", func(c *rota.Edit) { c.Params = json.RawMessage{} }, "params", "is not JSON"),
		breaks("merged params a list", func(c *rota.Edit) { c.Params, c.MergeParams = nil, json.RawMessage(`[]`) }, "merge_params", "is not a JSON object"),
		breaks("merged and other params", func(c *rota.Edit) { c.MergeParams = json.RawMessage(`{}`) }, "merge_params", "params is also given"),
		breaks("a year of the past", func(c *rota.Edit) { c.RunAt = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC) }, "run_at", "is in the year 1969; allowed are 1970 to"),
		breaks("a delay into the past", func(c *rota.Edit) { c.Delay = new(-time.Second) }, "delay", "is -1s; allowed are 0s to"),
		breaks("a delay and a time", func(c *rota.Edit) { c.RunAt, c.Delay = samples.Time, new(time.Second) }, "delay", "run_at is also given"),
		breaks("now and a time", func(c *rota.Edit) { c.RunAt, c.RunNow = samples.Time, true }, "run_now", "run_at or delay is also given"),
		breaks("now and a delay", func(c *rota.Edit) { c.Delay, c.RunNow = new(time.Second), true }, "run_now", "run_at or delay is also given"),
	}
}

func moveRefusals() []refusal {
	return []refusal{
		breaks("no job", func(c *rota.Move) { c.JobID = rota.ID{} }, "job_id", "is empty"),
		breaks("an unknown place", func(c *rota.Move) { c.Place = "up" }, "place", `is "up"; allowed are before, after, top, bottom`),
		breaks("no anchor", func(c *rota.Move) { c.Anchor = rota.ID{} }, "anchor", "before needs the id of another job"),
		breaks("itself", func(c *rota.Move) { c.Anchor = c.JobID }, "anchor", "is the job itself"),
		breaks("an anchor too many", func(c *rota.Move) { c.Place = rota.PlaceTop }, "anchor", "top takes none"),
	}
}

func allRefusals() []refusal {
	return []refusal{
		breaks("no members", func(c *rota.All) { c.Members = nil }, "members", "has 0 entries"),
		breaks("an empty member", func(c *rota.All) { c.Members[0] = nil }, "members[0]", "is empty"),
		breaks("a claim", func(c *rota.All) { c.Members[0] = sampleOf(rota.VerbClaim) }, "members[0]", "claim cannot be a member of All"),
		breaks("an all", func(c *rota.All) { c.Members[1] = sampleOf(rota.VerbAll) }, "members[1]", "all cannot be a member of All"),
		breaks("a member without an id", func(c *rota.All) { c.Members[0].Head().ID = rota.ID{} }, "members[0].id", "is empty"),
		breaks("a wrong member", func(c *rota.All) { c.Members[1].(*rota.Enqueue).Jobs[0].Type = "" }, "members[1].jobs[0].type", "is empty"),
	}
}

func TestCheckCommandRefusesNil(t *testing.T) {
	if err := rota.CheckCommand(nil); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v", err)
	}
}

// The test covers every pair of indexes, in ascending and in other orders, with jobs
// without ids between them.
func TestEnqueueRefusesRepeatedIDs(t *testing.T) {
	orders := map[string][]byte{
		"ascending": {1, 2, 3, 4, 5}, "descending": {5, 4, 3, 2, 1}, "mixed": {2, 1, 4, 3, 5}, "with gaps": {3, 0, 5, 0, 1},
	}
	for name, order := range orders {
		c := &rota.Enqueue{Meta: samples.Meta(1)}
		for _, n := range order {
			c.Jobs = append(c.Jobs, rota.NewJob{Type: "noop"})
			if n > 0 {
				c.Jobs[len(c.Jobs)-1].ID = samples.ID(n)
			}
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range c.Jobs {
			for k := range i {
				was := c.Jobs[i].ID
				c.Jobs[i].ID = c.Jobs[k].ID
				if refused := c.Validate() != nil; refused == c.Jobs[k].ID.IsZero() {
					t.Errorf("%s: jobs %d and %d have the id %q, refused: %v", name, k, i, c.Jobs[k].ID, refused)
				}
				c.Jobs[i].ID = was
			}
		}
	}
}
