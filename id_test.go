package rota

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestNewIDAscendsAndHasTime(t *testing.T) {
	from := time.Now().Truncate(time.Millisecond)
	last := ID{}
	for range 1000 {
		id := NewID()
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
		if id, err := ParseID(good); err != nil || id.String() != text {
			t.Errorf("ParseID(%q) = %q, %v", good, id, err)
		}
	}
	for _, bad := range []string{
		"", "7", strings.ReplaceAll(text, "-", ""), "{" + text + "}", "urn:uuid:" + text,
		text + "0", text[:35], text[:35] + "g", strings.Replace(text, "-", "_", 1), strings.Repeat("x", 10_000),
	} {
		_, err := ParseID(bad)
		if CodeOf(err) != Invalid || err.(*Error).Field != "id" || len(err.Error()) > 500 {
			t.Errorf("ParseID(%.50q) = %v", bad, err)
		}
	}
}

func TestIDTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		doc, err := json.Marshal(map[string]ID{"id": id})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]ID
		if err := json.Unmarshal(doc, &back); err != nil || back["id"] != id {
			t.Fatalf("%s came back as %v, %v", doc, back, err)
		}
	})
}

func TestZeroIDIsEmptyText(t *testing.T) {
	doc, err := json.Marshal(ID{})
	if err != nil || string(doc) != `""` {
		t.Errorf("got %s, %v", doc, err)
	}
	id := sampleID(1)
	if err := json.Unmarshal([]byte(`""`), &id); err != nil || !id.IsZero() {
		t.Errorf("got %s, %v", id, err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &id); CodeOf(err) != Invalid {
		t.Errorf("got %v", err)
	}
}

// Stores rely on this: a command sent again derives the same ids, and ids of one command
// sort together.
func TestDeriveIsStableAndKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := NewID()
		salt := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "salt")
		derived := id.Derive(salt)
		switch {
		case derived != id.Derive(salt):
			t.Fatal("two derivations differ")
		case derived == id || derived == id.Derive(append(salt, 0)) || derived == NewID().Derive(salt):
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
	c := &Enqueue{Meta: sampleMeta(1), Jobs: []NewJob{{}, {ID: sampleID(9)}, {}}}
	claim := &Claim{Seed: sampleToken(1)}
	token := claim.TokenFor(sampleID(2))
	for name, pair := range map[string][2]string{
		"first job": {c.JobID(0).String(), "00926a5e-7c3b-7000-8000-02a66516a4e6"},
		"given job": {c.JobID(1).String(), sampleID(9).String()},
		"third job": {c.JobID(2).String(), "00926a5e-7c3b-7000-8002-8b1272239f49"},
		"run":       {RunID(sampleID(1), sampleID(2)).String(), "00926a5e-7c3b-7fbe-8bfd-7be4b1fe53c6"},
		"retry":     {RetryID(sampleID(1), sampleID(2)).String(), "00926a5e-7c3b-7a29-ac16-d62d578f6189"},
		"audit":     {AuditID(sampleID(1), VerbCancel, sampleID(2)).String(), "00926a5e-7c3b-74ac-81f2-335178b23cf6"},
		"its token": {uuid.UUID(token).String(), "83fff44b-b75d-784b-6390-e794ba1efdce"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", name, pair[0], pair[1])
		}
	}
}

func TestDerivedJobIDsSortByIndex(t *testing.T) {
	c := &Enqueue{Meta: NewMeta(""), Jobs: make([]NewJob, JobsMax)}
	for i := 1; i < len(c.Jobs); i++ {
		if a, b := c.JobID(i-1), c.JobID(i); a.Compare(b) >= 0 || checkNewID("id", b) != nil {
			t.Fatalf("job %d is %s, job %d is %s", i-1, a, i, b)
		}
	}
	if next := NewMeta("").ID; c.JobID(0).Compare(next) > 0 {
		t.Errorf("a job of an earlier command, %s, sorts behind a later one, %s", c.JobID(0), next)
	}
}

// Derived ids must not change, because stores contain them.
func TestDerivedIDsOfSchedulesAndGroupsDoNotChange(t *testing.T) {
	meta := sampleMeta(1)
	direct := &Direct{Meta: meta, Seed: sampleToken(1)}
	token := direct.TokenFor(sampleID(2))
	first := (&Enqueue{Meta: meta, Jobs: []NewJob{{}}}).JobID(0).String()
	for name, pair := range map[string][2]string{
		"group":        {(&EnqueueGroup{Meta: meta}).GroupID().String(), "00926a5e-7c3b-764b-9a65-a7e126149442"},
		"member":       {(&EnqueueGroup{Meta: meta, Jobs: []NewJob{{}}}).JobID(0).String(), first},
		"given member": {(&EnqueueGroup{Meta: meta, Jobs: []NewJob{{ID: sampleID(9)}}}).JobID(0).String(), sampleID(9).String()},
		"fire":         {(&Fire{Meta: meta}).JobID(0).String(), first},
		"trigger":      {(&Trigger{Meta: meta}).JobID(0).String(), first},
		"backfill":     {(&Backfill{Meta: meta}).JobID(0).String(), first},
		"redrive":      {(&Redrive{Meta: meta}).NewJobID().String(), first},
		"direct":       {direct.JobID().String(), first},
		"given direct": {(&Direct{Meta: meta, Job: NewJob{ID: sampleID(9)}}).JobID().String(), sampleID(9).String()},
		"its token":    {uuid.UUID(token).String(), "83fff44b-b75d-784b-6390-e794ba1efdce"},
		"reservation":  {(&Reserve{Meta: meta}).ReservationID().String(), "00926a5e-7c3b-7067-a6e4-fd98fa97dd59"},
		"audit":        {AuditNameID(sampleID(1), VerbArchive, "template mail").String(), "00926a5e-7c3b-771e-9ac5-60c2288e8c14"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", name, pair[0], pair[1])
		}
	}
}

// No two things that a command, or a few adjacent commands, can create have the same id. A
// command creates jobs under one verb, so its jobs differ by index alone.
func TestDerivedIDsAreDistinct(t *testing.T) {
	names := map[ID]string{}
	take := func(id ID, name string) {
		if other := names[id]; other != "" {
			t.Fatalf("%s and %s are both %s", other, name, id)
		}
		if err := checkNewID("id", id); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		names[id] = name
	}
	for n := range byte(3) {
		meta := Meta{ID: sampleID(n + 1)}
		take(meta.ID, fmt.Sprint("command ", n))
		take((&EnqueueGroup{Meta: meta}).GroupID(), fmt.Sprint("group ", n))
		take((&Reserve{Meta: meta}).ReservationID(), fmt.Sprint("reservation ", n))
		for i := range JobsMax {
			take((&Fire{Meta: meta}).JobID(i), fmt.Sprint("job ", n, " ", i))
		}
		for k := range byte(3) {
			about := sampleID(0x80 + k)
			take(RunID(meta.ID, about), fmt.Sprint("run ", n, k))
			take(RetryID(meta.ID, about), fmt.Sprint("retry ", n, k))
			for _, c := range sampleCommands() {
				take(AuditID(meta.ID, c.Verb(), about), fmt.Sprint("audit ", c.Verb(), n, k))
				for _, kind := range []string{"type ", "template ", "schedule ", "group ", "reservation ", "limits"} {
					take(AuditNameID(meta.ID, c.Verb(), kind+about.String()), fmt.Sprint("audit ", c.Verb(), kind, n, k))
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
		if id := DefinitionID(name); id.String() != want {
			t.Errorf("%s is %s, want %s", name, id, want)
		}
	}
}
