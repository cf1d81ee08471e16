package explain

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Texts that explanations share.

// remedyServer is the remedy for overdue maintenance, which a server does by itself.
const remedyServer = "A server releases it within moments; if it does not, no server is running: rota serve."

// rerunCommands returns the commands that run a job at once without what it
// waits for: a redrive starts without delay, dependencies and group.
func rerunCommands(id rota.ID) string {
	return fmt.Sprintf("rota job cancel %s, then rota job retry %s", id, id)
}

// describeState returns the state of a job as the end of a sentence about it.
func describeState(j *rota.Job) string {
	switch {
	case j.Sequel == rota.SequelDead:
		return "has failed for good"
	case j.Status == rota.StatusRunning && j.Run != nil && j.Run.Open() && !j.Run.CancelAt.IsZero():
		return "runs and was asked to stop"
	case j.State() == rota.StateScheduled && !j.RetryOf.IsZero():
		return fmt.Sprintf("failed, and waits until %s for attempt %d of %d", rules.Stamp(j.RunAt), j.Attempt, j.Policy.MaxAttempts)
	case j.State() == rota.StateScheduled:
		return "waits until " + rules.Stamp(j.RunAt)
	}
	return stateTexts[j.State()]
}

var stateTexts = map[rota.State]string{
	rota.StateBlocked:   "is blocked itself",
	rota.StateQueued:    "waits in the queue",
	rota.StateRunning:   "is running",
	rota.StateCompleted: "has completed",
	rota.StateFailed:    "has failed",
	rota.StateSkipped:   "was skipped",
	rota.StateCancelled: "was cancelled",
}

// listJobs names the first of some jobs and counts the others.
func listJobs(jobs []*rota.Job) string {
	first := fmt.Sprintf("%s, which %s", rules.JobRef(jobs[0].ID), describeState(jobs[0]))
	switch others := len(jobs) - 1; {
	case others == 0:
		return first
	case others == 1:
		return first + ", and 1 other"
	case others < NamedJobsMax:
		return fmt.Sprintf("%s, and %d others", first, others)
	}
	return fmt.Sprintf("%s, and at least %d others", first, NamedJobsMax)
}

// firstIDs returns the ids of the first of some jobs.
func firstIDs(jobs []*rota.Job) (ids []rota.ID) {
	for _, j := range jobs[:min(len(jobs), NamedJobsMax)] {
		ids = append(ids, j.ID)
	}
	return ids
}

func groupName(g *rota.Group, id rota.ID) string {
	if g != nil && g.Name != "" {
		return fmt.Sprintf("group %s (%s)", g.Name, id)
	}
	return "group " + id.String()
}

// forScope returns the scope of an execution as the end of a phrase, empty if
// it has none.
func forScope(s rota.Scope) string {
	if s == (rota.Scope{}) {
		return ""
	}
	return fmt.Sprintf(" for %s %s", oneLine(s.Kind), oneLine(s.ID))
}

// errorOf returns the error of a run in one line.
func errorOf(r *rota.Run) string {
	code, text := oneLine(r.ErrorCode), oneLine(r.Error)
	if code == "" || text == "" {
		return code + text
	}
	return code + ": " + text
}

// afterColon returns the text after a colon, empty if there is none.
func afterColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func inBrackets(text string) string {
	if text = oneLine(text); text == "" {
		return ""
	}
	return " (" + text + ")"
}

// oneLine shortens a text from outside Rota to one line.
func oneLine(text string) string {
	const maxBytes = 200
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= maxBytes {
		return strings.TrimRight(text, ".")
	}
	end := maxBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// shortDuration formats a duration without the parts that are zero: 1h, not
// 1h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
