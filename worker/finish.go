package worker

import (
	"context"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

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
			finished.Items = append(finished.Items, rota.FinishAnswer{RunID: answers[i].RunID.ID, Code: codeOfLease(&answers[i])})
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

// finishChunk sends one request. Its answer has the first fields of an answer to a heartbeat.
func (s *store) finishChunk(ctx context.Context, items []rota.FinishItem) ([]api.ExtendedLease, error) {
	body := api.FinishRequest{Items: make([]api.FinishRun, len(items))}
	for i := range items {
		body.Items[i] = api.NewFinishRun(&items[i], s.logs.text(items[i].RunID))
	}
	var answers api.Extended
	err := s.server.call(ctx, request{act: "finish", method: http.MethodPost, path: "/finish", body: body, backoff: &s.server.otherBackoff}, &answers)
	if err == nil {
		err = checkLeases("finish", answers.Items, len(items), func(i int) api.ID { return body.Items[i].RunID })
	}
	// A refusal may be due to the log: the end is sent again without it.
	if len(items) == 1 && err != nil && !undecided(err) && body.Items[0].Log != "" {
		s.logs.drop(items[0].RunID)
		return s.finishChunk(ctx, items)
	}
	return answers.Items, err
}
