package worker

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
)

// finishRequest records how runs ended.
type finishRequest struct {
	Items []finishItem `json:"items"`
}

type finishItem struct {
	leaseView
	Outcome      string          `json:"outcome"`
	Result       json.RawMessage `json:"result,omitempty"`
	Error        string          `json:"error,omitempty"`
	ErrorCode    string          `json:"error_code,omitempty"`
	Permanent    bool            `json:"permanent,omitempty"`
	RetryAt      time.Time       `json:"retry_at,omitzero"`
	ExitCode     *int            `json:"exit_code,omitempty"`
	RowsAffected *int64          `json:"rows_affected,omitempty"`
	Artifacts    []string        `json:"artifacts,omitempty"`
	Log          string          `json:"log,omitempty"`
}

// finishBytes bounds one request, unless a single end is larger.
const finishBytes = 1 << 20

// finish records how runs ended, with their logs, in several requests if necessary. A
// request that is sent again gets the same answer.
func (s *store) finish(ctx context.Context, c *rota.Finish) (rota.Reply, error) {
	finished := &rota.Finished{Items: make([]rota.FinishAnswer, 0, len(c.Items))}
	for rest := c.Items; len(rest) > 0; {
		chunk := s.nextChunk(rest)
		rest = rest[len(chunk):]
		answers, err := s.finishChunk(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for i := range answers {
			finished.Items = append(finished.Items, rota.FinishAnswer{RunID: answers[i].RunID, Code: answers[i].code()})
		}
	}
	return finished, nil
}

// nextChunk returns the first ends that fit into one request.
func (s *store) nextChunk(items []rota.FinishItem) []rota.FinishItem {
	bytes := 0
	for i := range items {
		bytes += 256 + len(items[i].Result) + len(items[i].Error) + s.logs.size(items[i].RunID)
		for _, path := range items[i].Artifacts {
			bytes += len(path)
		}
		if bytes > finishBytes && i > 0 {
			return items[:i]
		}
	}
	return items
}

func (s *store) finishChunk(ctx context.Context, items []rota.FinishItem) ([]leaseAnswer, error) {
	body := finishRequest{Items: make([]finishItem, len(items))}
	asked := make([]leaseView, len(items))
	for i := range items {
		asked[i] = newLeaseView(items[i].LeaseRef)
		body.Items[i] = newFinishItem(&items[i], s.logs.text(items[i].RunID))
	}
	var answers leaseAnswers
	err := s.server.call(ctx, request{act: "finish", method: http.MethodPost, path: "/finish", body: body, backoff: &s.server.otherBackoff}, &answers)
	if err == nil {
		err = answers.check("finish", asked)
	}
	// A refusal may be due to the log: the end is sent again without it.
	if len(items) == 1 && err != nil && !undecided(err) && body.Items[0].Log != "" {
		s.logs.drop(items[0].RunID)
		return s.finishChunk(ctx, items)
	}
	return answers.Items, err
}

func newFinishItem(it *rota.FinishItem, log string) finishItem {
	return finishItem{
		leaseView: newLeaseView(it.LeaseRef), Outcome: string(it.Outcome), Result: it.Result, Error: it.Error, ErrorCode: it.ErrorCode,
		Permanent: it.Permanent, RetryAt: it.RetryAt, ExitCode: it.ExitCode, RowsAffected: it.RowsAffected, Artifacts: it.Artifacts, Log: log,
	}
}
