package worker

import (
	"context"
	"maps"
	"sync"

	"github.com/rotajobs/rota"
)

// secrets holds the secrets of the jobs that this worker runs, as they came with the claims.
type secrets struct {
	mu    sync.Mutex
	ofRun map[rota.ID]map[string]string
}

func newSecrets() *secrets { return &secrets{ofRun: map[rota.ID]map[string]string{}} }

func (s *secrets) put(run rota.ID, values map[string]string) {
	if len(values) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ofRun[run] = values
	}
}

// Forget removes the secrets of a run. The engine calls it for every run: the end of one that has lost its lease is not sent.
func (s *secrets) Forget(run rota.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ofRun, run)
}

// Secret returns a secret of the template of a job.
func (s *secrets) Secret(_ context.Context, job *rota.Job, key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job.Template == "" {
		return "", &rota.Error{Code: rota.NotFound, Reason: "the job has no template, and secrets belong to templates", Hint: "create it from a template: rota job create --template NAME"}
	}
	value, is := s.ofRun[job.Run.ID][key]
	if !is {
		return "", &rota.Error{
			Code: rota.NotFound, Act: "secret", Reason: "there is no secret " + job.Template + "/" + key + " for this job",
			Hint: "set it with rota secret set, and use a token of scope worker and https; a change reaches jobs that are claimed later",
		}
	}
	return value, nil
}

// Secrets returns all secrets of the template of a job.
func (s *secrets) Secrets(_ context.Context, job *rota.Job) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.ofRun[job.Run.ID]), nil
}
