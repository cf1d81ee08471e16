package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testRefused shows that refused commands do not change the store. Fields that are invalid by
// themselves are in testInvalid.
func testRefused(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"oversized params leave nothing behind", refusedOversized},
		{"the largest params are kept whole", refusedNotLargest},
		{"a held unique key creates no job and uses no position", refusedKey},
		{"a finished run accepts no more commands", refusedFinished},
		{"the lease of one job is not valid for another", refusedCrossed},
		{"a job that never ran accepts no lease", refusedNeverRan},
	})
}

func refusedOversized(y *story) {
	c := y.enqueueCommand(rota.NewJob{UniqueKey: "k"}, rota.NewJob{Params: oversized(rota.ParamsMax)})
	y.refused(rota.Invalid, c)
	want(y, "position of the next", y.enqueue(keyed).Position, 100)
}

func refusedNotLargest(y *story) {
	largest := oversized(rota.ParamsMax - 1)
	j := y.enqueue(rota.NewJob{Params: largest})
	want(y, "kept whole", string(y.job(j.ID).Params) == string(largest), true)
}

func refusedKey(y *story) {
	j := y.enqueue(keyed)
	y.wantKeyHeldBy(j)
	want(y, "position of the next", y.enqueue(rota.NewJob{}).Position, 200)
}

func refusedFinished(y *story) {
	j := y.running(rota.NewJob{})
	y.failPermanently(j)
	y.advance(time.Hour)
	before := y.dump()
	want(y, "heartbeat", y.heartbeat(j).Code, rota.LeaseLost)
	want(y, "finish", y.finish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted}).Code, rota.LeaseLost)
	want(y, "reaped", len(y.reap().Jobs), 0)
	want(y, "recovered", len(y.recover().Jobs), 0)
	want(y, "claimed", len(y.claim(5)), 0)
	y.refused(rota.Conflict, y.cancelCommand(j.ID))
	y.refused(rota.Conflict, y.editCommand(j.ID, toPriority(1)))
	y.wantUnchanged(before)
}

func refusedCrossed(y *story) {
	y.enqueueMany(2)
	jobs := y.claim(2)
	crossed := &rota.Job{ID: jobs[0].ID, Run: jobs[1].Run}
	before := y.dump()
	want(y, "heartbeat", y.heartbeat(crossed).Code, rota.LeaseLost)
	want(y, "note", y.note(crossed, rota.NoteItem{Artifacts: []string{"a"}}).Code, rota.LeaseLost)
	want(y, "finish", y.finish(crossed, rota.FinishItem{Outcome: rota.OutcomeCompleted}).Code, rota.LeaseLost)
	y.wantUnchanged(before)
}

func refusedNeverRan(y *story) {
	j := y.enqueue(rota.NewJob{})
	j.Run = &rota.Run{ID: y.ids.next(), Token: y.ids.seed()}
	before := y.dump()
	want(y, "heartbeat", y.heartbeat(j).Code, rota.LeaseLost)
	want(y, "note", y.note(j, rota.NoteItem{Artifacts: []string{"a"}}).Code, rota.LeaseLost)
	want(y, "finish", y.finish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted}).Code, rota.LeaseLost)
	y.wantUnchanged(before)
}
