package codec

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// queuedJob returns a job as an Enqueue of a plain request creates it.
func queuedJob() *rota.Job {
	return &rota.Job{
		ID: samples.ID(1), ExecutionID: samples.ID(1), Type: "mail.send",
		Params: json.RawMessage(`{"text":"` + strings.Repeat("x", 189) + `"}`),
		Status: rota.StatusQueued, Position: 123_400, Attempt: 1,
		Policy:    rota.PolicyPatch{}.Policy(),
		CreatedBy: "ada", CreatedAt: samples.Time, QueuedAt: samples.Time,
	}
}

// claimedJob returns a job as a Claim dispatches it.
func claimedJob() *rota.Job {
	j := queuedJob()
	j.Status, j.StartedAt = rota.StatusRunning, samples.Time
	j.Run = &rota.Run{
		ID: samples.ID(2), Runner: "worker-1", Incarnation: samples.ID(3), Token: samples.Token(4),
		StartedAt: samples.Time, HeartbeatAt: samples.Time, StaleAfter: samples.Time.Add(time.Minute),
	}
	return j
}

// resultsOfJobs returns the result of an Enqueue of one job and of a Claim of 100 jobs.
func resultsOfJobs() map[string]rota.Result {
	claimed := &rota.Claimed{Now: samples.Time, More: true}
	for range 100 {
		claimed.Jobs = append(claimed.Jobs, claimedJob())
	}
	return map[string]rota.Result{
		"Enqueue":  {Reply: &rota.Enqueued{Jobs: []rota.Submitted{{Job: queuedJob()}}}},
		"Claim100": {Reply: claimed},
	}
}

func BenchmarkAppendResult(b *testing.B) {
	for name, r := range resultsOfJobs() {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = AppendResult(buf[:0], r)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkDecodeResults(b *testing.B) {
	for name, r := range resultsOfJobs() {
		b.Run(name, func(b *testing.B) {
			data, err := AppendResults(nil, []rota.Result{r})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeResults(data); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(data)))
		})
	}
}
