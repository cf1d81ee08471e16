package logstore

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func finishSent(ago time.Duration, now time.Time, endedAgo time.Duration) *rota.Finish {
	return &rota.Finish{Meta: rota.NewMeta(""), Sent: now.Add(-ago), Items: []rota.FinishItem{
		{Outcome: rota.OutcomeCompleted, EndedAgo: endedAgo}, {Outcome: rota.OutcomeSkipped},
	}}
}

func TestWaitsOfFinishesArePartOfTheirItems(t *testing.T) {
	now := time.Now()
	waiting, direct, later := finishSent(time.Minute, now, time.Second), finishSent(0, now, time.Second), finishSent(-time.Minute, now, time.Second)
	direct.Sent = time.Time{}
	claim := &rota.Claim{Meta: rota.NewMeta("")}
	inner := &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{claim, waiting}}
	outer := &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{direct, inner}}
	still := &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{direct, claim}}
	commands := []rota.Command{claim, waiting, outer, still, later, &rota.All{Meta: rota.NewMeta("")}}
	frozen := withWaits(commands, now)
	check := func(c rota.Command, ago time.Duration) {
		t.Helper()
		f := c.(*rota.Finish)
		if !f.Sent.IsZero() || f.Items[0].EndedAgo != ago || f.Items[1].EndedAgo != ago-time.Second {
			t.Errorf("sent %s, ended %s and %s ago; want %s", f.Sent, f.Items[0].EndedAgo, f.Items[1].EndedAgo, ago)
		}
	}
	check(frozen[1], time.Minute+time.Second)
	check(frozen[2].(*rota.All).Members[1].(*rota.All).Members[1], time.Minute+time.Second)
	check(frozen[4], time.Second) // the clock went back
	for i, c := range []int{0, 3, 5} {
		if frozen[c] != commands[c] {
			t.Errorf("%d: a command that has not waited was copied", i)
		}
	}
	if frozen[2].(*rota.All).Members[0] != rota.Command(direct) {
		t.Error("a member that has not waited was copied")
	}
	if waiting.Sent.IsZero() || waiting.Items[0].EndedAgo != time.Second || inner.Members[1] != rota.Command(waiting) || outer.Members[1] != rota.Command(inner) {
		t.Error("the commands of the caller were changed")
	}
	if same := []rota.Command{claim, direct}; &withWaits(same, now)[0] != &same[0] {
		t.Error("commands that have not waited were copied")
	}
}

func TestEntriesAreCutAtTheirSize(t *testing.T) {
	params := []byte(`{"x":"` + strings.Repeat("x", rota.ParamsMax-8) + `"}`)
	enqueue := func(jobs int) rota.Command {
		c := &rota.Enqueue{Meta: rota.NewMeta("")}
		for range jobs {
			c.Jobs = append(c.Jobs, rota.NewJob{Type: "mail", Params: params})
		}
		return c
	}
	var small, many []rota.Command
	for range 40 {
		small = append(small, enqueue(1))
	}
	for range 100 {
		c := &rota.Enqueue{Meta: rota.NewMeta("")}
		c.Jobs = make([]rota.NewJob, rota.JobsMax)
		many = append(many, c)
	}
	perEntry := EntryBytesMax / (rota.ParamsMax + 200)
	if n := entryLen(small); n < min(perEntry, 39) || n > EntryBytesMax/rota.ParamsMax && n != 40 {
		t.Errorf("%d commands are in the first entry", n)
	}
	huge := enqueue(EntryBytesMax/rota.ParamsMax + 1)
	if n := entryLen([]rota.Command{huge, small[0]}); n != 1 {
		t.Errorf("a large command shares its entry with %d others", n-1)
	}
	if n := entryLen([]rota.Command{small[0], huge}); n != 1 {
		t.Errorf("a large command shares its entry; %d", n)
	}
	if n := entryLen(many); n*rota.JobsMax > rota.CommandEntriesMax || (n+1)*rota.JobsMax <= rota.CommandEntriesMax {
		t.Errorf("%d commands of %d jobs are in an entry", n, rota.JobsMax)
	}
	for _, commands := range [][]rota.Command{nil, small[:1], {huge}} {
		if n := entryLen(commands); n != len(commands) {
			t.Errorf("%d of %d commands", n, len(commands))
		}
	}
}
