package explain

import (
	"encoding/binary"

	"github.com/rotajobs/rota"
)

func jobID(n int) (id rota.ID) {
	id[6], id[8] = 0x70, 0x80
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}

func readyJob(n int) *rota.Job {
	return &rota.Job{
		ID: jobID(n), ExecutionID: jobID(n), Type: "mail", Params: []byte("{}"), Status: rota.StatusQueued, Position: int64(n) * 100,
		Attempt: 1, Policy: rota.Policy{MaxAttempts: 4}, CreatedAt: testNow, QueuedAt: testNow,
	}
}

// endedJob returns a job whose run ended so, settled as the rules do.
func endedJob(n int, outcome rota.Outcome, sequel rota.Sequel) *rota.Job {
	j := readyJob(n)
	j.Status, j.StartedAt, j.FinishedAt, j.Sequel = rota.StatusRunning, testNow, testNow, sequel
	j.Run = &rota.Run{ID: jobID(1_000_000 + n), Runner: "node", Token: rota.Token{1}, StartedAt: testNow, Outcome: outcome, FinishedAt: testNow}
	return j
}

func retryOf(parent *rota.Job, n int) *rota.Job {
	j := readyJob(n)
	j.RetryOf, j.ExecutionID, j.Attempt = parent.ID, parent.ExecutionID, parent.Attempt+1
	return j
}
