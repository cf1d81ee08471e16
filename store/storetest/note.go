package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testNote(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"an open run accepts progress, artifacts and a log path", noteOpen},
		{"the log path is written once", noteLogOnce},
		{"artifacts are kept once each, up to a limit", noteArtifacts},
		{"a note does not extend the lease", noteLease},
		{"an ended run accepts only artifacts", noteEnded},
		{"a wrong lease changes nothing and is answered with lease lost", noteWrongLease},
	})
}

func noteOpen(y *story) {
	j := y.running(rota.NewJob{})
	a := y.note(j, rota.NoteItem{Progress: json.RawMessage(`5`), Artifacts: []string{"a", "b"}, LogPath: "log"})
	want(y, "code", a.Code, "")
	y.note(j, rota.NoteItem{Artifacts: []string{"c"}})
	r := y.job(j.ID).Run
	want(y, "progress", string(r.Progress), "5")
	want(y, "artifacts", fmt.Sprint(r.Artifacts), "[a b c]")
	want(y, "log", r.LogPath, "log")
}

func noteLogOnce(y *story) {
	j := y.running(rota.NewJob{})
	y.note(j, rota.NoteItem{LogPath: "first"})
	y.note(j, rota.NoteItem{LogPath: "second"})
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted, LogPath: "third"})
	want(y, "log", y.job(j.ID).Run.LogPath, "first")
}

func noteArtifacts(y *story) {
	j := y.running(rota.NewJob{})
	y.note(j, rota.NoteItem{Artifacts: []string{"a", "b", "a"}})
	y.note(j, rota.NoteItem{Artifacts: []string{"b", "c"}})
	want(y, "artifacts", fmt.Sprint(y.job(j.ID).Run.Artifacts), "[a b c]")
	many := make([]string, rota.ArtifactMax)
	for i := range many {
		many[i] = fmt.Sprintf("path-%d", i)
	}
	want(y, "code", y.note(j, rota.NoteItem{Artifacts: many}).Code, "")
	kept := y.job(j.ID).Run.Artifacts
	want(y, "artifacts kept", len(kept), rota.ArtifactMax)
	want(y, "the first and the last fit", slices.Equal(kept, append([]string{"a", "b", "c"}, many[:rota.ArtifactMax-3]...)), true)
}

func noteLease(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	y.advance(time.Second)
	a := y.note(j, rota.NoteItem{Artifacts: []string{"a"}})
	wantTime(y, "answered stale after", a.StaleAfter, j.Run.StaleAfter)
	want(y, "cancel", a.Cancel, true)
	want(y, "reason", a.Reason, "not needed")
	r := y.job(j.ID).Run
	wantTime(y, "stale after", r.StaleAfter, j.Run.StaleAfter)
	wantTime(y, "heartbeat at", r.HeartbeatAt, j.Run.HeartbeatAt)
}

func noteEnded(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	a := y.note(j, rota.NoteItem{Progress: json.RawMessage(`5`), Artifacts: []string{"late"}, LogPath: "log"})
	want(y, "code", a.Code, "")
	r := y.job(j.ID).Run
	want(y, "artifacts", fmt.Sprint(r.Artifacts), "[late]")
	want(y, "progress", string(r.Progress), "")
	want(y, "log", r.LogPath, "")
	want(y, "outcome", r.Outcome, rota.OutcomeCompleted)
}

func noteWrongLease(y *story) {
	j := y.running(rota.NewJob{})
	before := y.dump()
	for what, ref := range wrongLeases(y, j) {
		it := rota.NoteItem{LeaseRef: ref, Artifacts: []string{"a"}, LogPath: "log", Progress: json.RawMessage("1")}
		a := do[*rota.Noted](y, &rota.Note{Meta: y.ids.meta(), Items: []rota.NoteItem{it}}).Items[0]
		wantLease(y, "answer to a foreign "+what, a, rota.LeaseAnswer{RunID: ref.RunID, Code: rota.LeaseLost})
	}
	y.wantUnchanged(before)
}
