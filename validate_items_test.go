package rota

import (
	"encoding/json"
	"strings"
	"testing"
)

func extendRefusals() []refusal {
	return []refusal{
		breaks("no lease", func(c *Extend) { c.Lease = 0 }, "lease", "is 0s; allowed are 1s to 1h"),
		breaks("no items", func(c *Extend) { c.Items, c.ReservationID = nil, ID{} }, "items", "has 0 entries; allowed are 1 to 10000"),
		breaks("many items", func(c *Extend) { c.Items = make([]ExtendItem, ItemsMax+1) }, "items", "has 10001 entries"),
		breaks("no job", func(c *Extend) { c.Items[0].JobID = ID{} }, "items[0].job_id", "is empty"),
		breaks("no run", func(c *Extend) { c.Items[0].RunID = ID{} }, "items[0].run_id", "is empty"),
		breaks("no token", func(c *Extend) { c.Items[0].Token = Token{} }, "items[0].lease_token", "is empty"),
		breaks("bad progress", func(c *Extend) { c.Items[0].Progress = json.RawMessage("half") }, "items[0].progress", "is not JSON"),
		breaks("progress of no bytes", func(c *Extend) { c.Items[0].Progress = json.RawMessage{} }, "items[0].progress", "is not JSON"),
		breaks("large progress", func(c *Extend) { c.Items[0].Progress = make(json.RawMessage, ProgressMax+1) }, "items[0].progress", "has 1025 bytes"),
		breaks("deep progress", func(c *Extend) { c.Items[0].Progress = nested(DepthMax + 1) }, "items[0].progress", "is nested more than 500 deep"),
	}
}

func noteRefusals() []refusal {
	return []refusal{
		breaks("no items", func(c *Note) { c.Items = nil }, "items", "has 0 entries"),
		breaks("no token", func(c *Note) { c.Items[0].Token = Token{} }, "items[0].lease_token", "is empty"),
		breaks("bad progress", func(c *Note) { c.Items[0].Progress = json.RawMessage("{") }, "items[0].progress", "is not JSON"),
		breaks("deep progress", func(c *Note) { c.Items[0].Progress = nested(DepthMax + 1) }, "items[0].progress", "is nested more than 500 deep"),
		breaks("an empty path", func(c *Note) { c.Items[0].Artifacts[1] = "" }, "items[0].artifacts[1]", "is empty"),
		breaks("a long path", func(c *Note) { c.Items[0].Artifacts[0] = strings.Repeat("x", PathMax+1) }, "items[0].artifacts[0]", "has 4097 bytes"),
		breaks("many paths", func(c *Note) { c.Items[0].Artifacts = make([]string, ArtifactMax+1) }, "items[0].artifacts", "has 1001 entries; at most 1000"),
		breaks("a log path with NUL", func(c *Note) { c.Items[0].LogPath = "a\x00b" }, "items[0].log_path", "NUL"),
	}
}

func finishRefusals() []refusal {
	item := func(name string, change func(*FinishItem), field, reason string) refusal {
		return breaks(name, func(c *Finish) { change(&c.Items[0]) }, "items[0]."+field, reason)
	}
	return []refusal{
		breaks("no items", func(c *Finish) { c.Items = nil }, "items", "has 0 entries"),
		item("no token", func(it *FinishItem) { it.Token = Token{} }, "lease_token", "is empty"),
		item("no outcome", func(it *FinishItem) { it.Outcome = "" }, "outcome", `is ""; allowed are COMPLETED, FAILED, SKIPPED, CANCELLED`),
		item("an unknown outcome", func(it *FinishItem) { it.Outcome = "done" }, "outcome", `is "done"`),
		item("an error not UTF-8", func(it *FinishItem) { it.Error = "\xff" }, "error", "UTF-8"),
		item("a long error code", func(it *FinishItem) { it.ErrorCode = strings.Repeat("x", KeyMax+1) }, "error_code", "has 513 bytes"),
		item("a bad result", func(it *FinishItem) { it.Result = json.RawMessage("nope") }, "result", "is not JSON"),
		item("a large result", func(it *FinishItem) { it.Result = make(json.RawMessage, ResultMax+1) }, "result", "has 65537 bytes"),
		item("a deep result", func(it *FinishItem) { it.Result = nested(DepthMax + 1) }, "result", "is nested more than 500 deep"),
		item("one deeper than any JSON", func(it *FinishItem) { it.Result = nested(20_000) }, "result", "is nested more than 500 deep"),
		item("an empty path", func(it *FinishItem) { it.Artifacts[0] = "" }, "artifacts[0]", "is empty"),
		item("a long log path", func(it *FinishItem) { it.LogPath = strings.Repeat("x", PathMax+1) }, "log_path", "has 4097 bytes"),
		item("retry_at before 1970", func(it *FinishItem) { it.RetryAt = sampleTime.AddDate(-100, 0, 0) }, "retry_at", "the year 1926"),
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
		string(nested(DepthMax)): DepthMax, `"\`: 0, `]]][[`: 0,
	} {
		if got := JSONDepth([]byte(doc)); got != want {
			t.Errorf("%.40s: %d, want %d", doc, got, want)
		}
	}
	if err := checkJSON("result", nested(DepthMax), ResultMax); err != nil {
		t.Errorf("as deep as may be: %v", err)
	}
}

func editRefusals() []refusal {
	return []refusal{
		breaks("no job", func(c *Edit) { c.JobID = ID{} }, "job_id", "is empty"),
		breaks("nothing", func(c *Edit) { c.Priority, c.Params = nil, nil }, "priority", "give at least one"),
		breaks("low priority", func(c *Edit) { c.Priority = new(PriorityMin - 1) }, "priority", "is -1000001"),
		breaks("params a string", func(c *Edit) { c.Params = json.RawMessage(`"x"`) }, "params", "is not a JSON object"),
		breaks("params of no bytes", func(c *Edit) { c.Params = json.RawMessage{} }, "params", "is not JSON"),
	}
}

func moveRefusals() []refusal {
	return []refusal{
		breaks("no job", func(c *Move) { c.JobID = ID{} }, "job_id", "is empty"),
		breaks("an unknown place", func(c *Move) { c.Place = "up" }, "place", `is "up"; allowed are before, after, top, bottom`),
		breaks("no anchor", func(c *Move) { c.Anchor = ID{} }, "anchor", "before needs the id of another job"),
		breaks("itself", func(c *Move) { c.Anchor = c.JobID }, "anchor", "is the job itself"),
		breaks("an anchor too many", func(c *Move) { c.Place = PlaceTop }, "anchor", "top takes none"),
	}
}

func allRefusals() []refusal {
	return []refusal{
		breaks("no members", func(c *All) { c.Members = nil }, "members", "has 0 entries"),
		breaks("an empty member", func(c *All) { c.Members[0] = nil }, "members[0]", "is empty"),
		breaks("a claim", func(c *All) { c.Members[0] = sampleOf(VerbClaim) }, "members[0]", "claim cannot be a member of All"),
		breaks("an all", func(c *All) { c.Members[1] = sampleOf(VerbAll) }, "members[1]", "all cannot be a member of All"),
		breaks("a member without an id", func(c *All) { c.Members[0].Head().ID = ID{} }, "members[0].id", "is empty"),
		breaks("a wrong member", func(c *All) { c.Members[1].(*Enqueue).Jobs[0].Type = "" }, "members[1].jobs[0].type", "is empty"),
	}
}

func TestCheckCommandRefusesNil(t *testing.T) {
	if err := CheckCommand(nil); CodeOf(err) != Invalid {
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
		c := &Enqueue{Meta: sampleMeta(1)}
		for _, n := range order {
			c.Jobs = append(c.Jobs, NewJob{Type: "noop"})
			if n > 0 {
				c.Jobs[len(c.Jobs)-1].ID = sampleID(n)
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
