package rota_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func TestNewIDAscendsAndHasTime(t *testing.T) {
	from := time.Now().Truncate(time.Millisecond)
	last := rota.ID{}
	for range 1000 {
		id := rota.NewID()
		if id.Compare(last) <= 0 {
			t.Fatalf("%s came after %s", id, last)
		}
		last = id
	}
	if at := last.Time(); at.Before(from) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("%s says it was minted at %s", last, at)
	}
	if v := uuid.UUID(last).Version(); v != 7 {
		t.Errorf("version %d, want 7", v)
	}
}

func TestParseID(t *testing.T) {
	const text = "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"
	for _, good := range []string{text, strings.ToUpper(text)} {
		if id, err := rota.ParseID(good); err != nil || id.String() != text {
			t.Errorf("ParseID(%q) = %q, %v", good, id, err)
		}
	}
	for _, bad := range []string{
		"", "7", strings.ReplaceAll(text, "-", ""), "{" + text + "}", "urn:uuid:" + text,
		text + "0", text[:35], text[:35] + "g", strings.Replace(text, "-", "_", 1), strings.Repeat("x", 10_000),
	} {
		_, err := rota.ParseID(bad)
		if rota.CodeOf(err) != rota.Invalid || err.(*rota.Error).Field != "id" || len(err.Error()) > 500 {
			t.Errorf("ParseID(%.50q) = %v", bad, err)
		}
	}
}

func TestIDPrefixIsARangeOfIDs(t *testing.T) {
	const text = "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"
	id, err := rota.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(text) + 1 {
		low, high, err := rota.ParseIDPrefix(strings.ToUpper(text[:n]))
		if n < rota.IDPrefixMin {
			if rota.CodeOf(err) != rota.Invalid {
				t.Errorf("%d characters are accepted: %v", n, err)
			}
			continue
		}
		if err != nil || low.Compare(id) > 0 || high.Compare(id) < 0 || !strings.HasPrefix(low.String(), text[:n]) || !strings.HasPrefix(high.String(), text[:n]) {
			t.Errorf("%s is from %s to %s, %v", text[:n], low, high, err)
		}
		if after := high.Next(); strings.HasPrefix(after.String(), text[:n]) || after.Compare(high) <= 0 {
			t.Errorf("%s follows %s", after, high)
		}
		if before := low.Previous(); strings.HasPrefix(before.String(), text[:n]) || before.Next() != low {
			t.Errorf("%s precedes %s", before, low)
		}
	}
	for _, bad := range []string{"01926a5e7c3b", "0192-6a5e-7c", "01926a5g", "nightly-report", text + "0"} {
		if low, high, err := rota.ParseIDPrefix(bad); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%s is from %s to %s, %v", bad, low, high, err)
		}
	}
}

func TestIDTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rota.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		doc, err := json.Marshal(map[string]rota.ID{"id": id})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]rota.ID
		if err := json.Unmarshal(doc, &back); err != nil || back["id"] != id {
			t.Fatalf("%s came back as %v, %v", doc, back, err)
		}
	})
}

func TestZeroIDIsEmptyText(t *testing.T) {
	doc, err := json.Marshal(rota.ID{})
	if err != nil || string(doc) != `""` {
		t.Errorf("got %s, %v", doc, err)
	}
	id := samples.ID(1)
	if err := json.Unmarshal([]byte(`""`), &id); err != nil || !id.IsZero() {
		t.Errorf("got %s, %v", id, err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &id); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v", err)
	}
}

// Stores rely on this: a command sent again derives the same ids, and ids of one command
// sort together.
func TestDeriveIsStableAndKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rota.NewID()
		salt := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "salt")
		derived := id.Derive(salt)
		switch {
		case derived != id.Derive(salt):
			t.Fatal("two derivations differ")
		case derived == id || derived == id.Derive(append(salt, 0)) || derived == rota.NewID().Derive(salt):
			t.Fatal("ids of different things are equal")
		case derived.Time() != id.Time():
			t.Fatal("the time bits are lost")
		case uuid.UUID(derived).Version() != 7 || uuid.UUID(derived).Variant() != uuid.RFC4122:
			t.Fatalf("%s is not a UUIDv7", derived)
		}
	})
}

// Derived ids must not change, because stores contain them.
func TestDerivedIDsDoNotChange(t *testing.T) {
	c := &rota.Enqueue{Meta: samples.Meta(1), Jobs: []rota.NewJob{{}, {ID: samples.ID(9)}, {}}}
	claim := &rota.Claim{Seed: samples.Token(1)}
	token := claim.TokenFor(samples.ID(2))
	for name, pair := range map[string][2]string{
		"first job": {c.JobID(0).String(), "00926a5e-7c3b-7000-8000-02a66516a4e6"},
		"given job": {c.JobID(1).String(), samples.ID(9).String()},
		"third job": {c.JobID(2).String(), "00926a5e-7c3b-7000-8002-8b1272239f49"},
		"run":       {rota.RunID(samples.ID(1), samples.ID(2)).String(), "00926a5e-7c3b-7fbe-8bfd-7be4b1fe53c6"},
		"retry":     {rota.RetryID(samples.ID(1), samples.ID(2)).String(), "00926a5e-7c3b-7a29-ac16-d62d578f6189"},
		"audit":     {rota.AuditID(samples.ID(1), rota.VerbCancel, samples.ID(2)).String(), "00926a5e-7c3b-74ac-81f2-335178b23cf6"},
		"its token": {uuid.UUID(token).String(), "83fff44b-b75d-784b-6390-e794ba1efdce"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", name, pair[0], pair[1])
		}
	}
}

func TestDerivedJobIDsSortByIndex(t *testing.T) {
	c := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: make([]rota.NewJob, rota.JobsMax)}
	for i := 1; i < len(c.Jobs); i++ {
		if a, b := c.JobID(i-1), c.JobID(i); a.Compare(b) >= 0 || rota.CheckNewID("id", b) != nil {
			t.Fatalf("job %d is %s, job %d is %s", i-1, a, i, b)
		}
	}
	if next := rota.NewMeta("").ID; c.JobID(0).Compare(next) > 0 {
		t.Errorf("a job of an earlier command, %s, sorts behind a later one, %s", c.JobID(0), next)
	}
}

// Derived ids must not change, because stores contain them.
func TestDerivedIDsOfSchedulesAndGroupsDoNotChange(t *testing.T) {
	meta := samples.Meta(1)
	direct := &rota.Direct{Meta: meta, Seed: samples.Token(1)}
	token := direct.TokenFor(samples.ID(2))
	first := (&rota.Enqueue{Meta: meta, Jobs: []rota.NewJob{{}}}).JobID(0).String()
	for name, pair := range map[string][2]string{
		"group":        {(&rota.EnqueueGroup{Meta: meta}).GroupID().String(), "00926a5e-7c3b-764b-9a65-a7e126149442"},
		"member":       {(&rota.EnqueueGroup{Meta: meta, Jobs: []rota.NewJob{{}}}).JobID(0).String(), first},
		"given member": {(&rota.EnqueueGroup{Meta: meta, Jobs: []rota.NewJob{{ID: samples.ID(9)}}}).JobID(0).String(), samples.ID(9).String()},
		"fire":         {(&rota.Fire{Meta: meta}).JobID(0).String(), first},
		"trigger":      {(&rota.Trigger{Meta: meta}).JobID(0).String(), first},
		"backfill":     {(&rota.Backfill{Meta: meta}).JobID(0).String(), first},
		"redrive":      {(&rota.Redrive{Meta: meta}).NewJobID().String(), first},
		"direct":       {direct.JobID().String(), first},
		"given direct": {(&rota.Direct{Meta: meta, Job: rota.NewJob{ID: samples.ID(9)}}).JobID().String(), samples.ID(9).String()},
		"its token":    {uuid.UUID(token).String(), "83fff44b-b75d-784b-6390-e794ba1efdce"},
		"reservation":  {(&rota.Reserve{Meta: meta}).ReservationID().String(), "00926a5e-7c3b-7067-a6e4-fd98fa97dd59"},
		"audit":        {rota.AuditNameID(samples.ID(1), rota.VerbArchive, "template mail").String(), "00926a5e-7c3b-771e-9ac5-60c2288e8c14"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", name, pair[0], pair[1])
		}
	}
}

// No two things that a command, or a few adjacent commands, can create have the same id. A
// command creates jobs under one verb, so its jobs differ by index alone.
func TestDerivedIDsAreDistinct(t *testing.T) {
	names := map[rota.ID]string{}
	take := func(id rota.ID, name string) {
		if other := names[id]; other != "" {
			t.Fatalf("%s and %s are both %s", other, name, id)
		}
		if err := rota.CheckNewID("id", id); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		names[id] = name
	}
	for n := range byte(3) {
		meta := rota.Meta{ID: samples.ID(n + 1)}
		take(meta.ID, fmt.Sprint("command ", n))
		take((&rota.EnqueueGroup{Meta: meta}).GroupID(), fmt.Sprint("group ", n))
		take((&rota.Reserve{Meta: meta}).ReservationID(), fmt.Sprint("reservation ", n))
		for i := range rota.JobsMax {
			take((&rota.Fire{Meta: meta}).JobID(i), fmt.Sprint("job ", n, " ", i))
		}
		for k := range byte(3) {
			about := samples.ID(0x80 + k)
			take(rota.RunID(meta.ID, about), fmt.Sprint("run ", n, k))
			take(rota.RetryID(meta.ID, about), fmt.Sprint("retry ", n, k))
			for _, c := range samples.Commands() {
				take(rota.AuditID(meta.ID, c.Verb(), about), fmt.Sprint("audit ", c.Verb(), n, k))
				for _, kind := range []string{"type ", "template ", "schedule ", "group ", "reservation ", "limits"} {
					take(rota.AuditNameID(meta.ID, c.Verb(), kind+about.String()), fmt.Sprint("audit ", c.Verb(), kind, n, k))
				}
			}
		}
	}
}

// Definition ids must not change: stores contain them, and users write them down.
func TestDefinitionIDsDoNotChange(t *testing.T) {
	for name, want := range map[string]string{
		"nightly": "3db961ff-06f7-8bb9-a3ec-073303f4b6d6",
		"zürich":  "a5750bb8-fa5c-86eb-83f0-09bb30814532",
	} {
		if id := rota.DefinitionID(name); id.String() != want {
			t.Errorf("%s is %s, want %s", name, id, want)
		}
	}
}
