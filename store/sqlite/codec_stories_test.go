package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/storetest"
)

// TestConformanceThroughCodec runs most of the suite on a store that gets decoded batches and whose callers
// get decoded results, as members of a cluster do.
func TestConformanceThroughCodec(t *testing.T) {
	plain := harness()
	h := plain
	h.Open = func(t testing.TB) rota.Store { return &encodedStore{openTest(t, Config{})} }
	h.Break = func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
		plain.Break(t, s.(*encodedStore).Store, job, how)
	}
	h.Tamper = func(t testing.TB, s rota.Store) storetest.Tamper { return plain.Tamper(t, s.(*encodedStore).Store) }
	h.Pause = func(t testing.TB, s rota.Store, at func([]rota.Command)) { plain.Pause(t, s.(*encodedStore).Store, at) }
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.FewerChecks(t, depth.Of(3, 8, 8))
	t.Run("RandomAgainstModel", func(t *testing.T) { storetest.RandomAgainstModel(t, h) })
	storetest.StoriesOf(t, h, codecStories...)
}

// codecStories have every verb, with most kinds of answers and refusals. A deep run has the whole suite.
var codecStories = []string{
	"enqueue", "unique", "ready", "claim", "extend", "note", "finish", "retry", "cancel", "edit", "move", "reap", "recover", "all", "batch",
	"resend", "late resend", "invalid", "refused", "types", "templates", "schedules", "switches", "owners", "expect", "dry run", "fire", "trigger",
	"depend", "group", "limits", "reservations", "prune", "redrive", "remember", "webhooks", "principals", "grants", "tokens", "secrets", "access records",
}

// encodedStore encodes and decodes each batch and its results.
type encodedStore struct{ *Store }

// Apply applies a batch. What has no encoding is applied as it is, and has to be refused.
func (s *encodedStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	decoded, unencodable := throughBatchCodec(b)
	if unencodable == nil {
		b = decoded
	}
	results, err := s.Store.Apply(ctx, b)
	if err != nil {
		return nil, err
	}
	if unencodable != nil && !slices.ContainsFunc(results, func(r rota.Result) bool { return r.Err != nil }) {
		return nil, fmt.Errorf("a batch was applied that cannot be encoded: %w", unencodable)
	}
	return throughResultsCodec(results)
}

func throughBatchCodec(b rota.Batch) (rota.Batch, error) {
	data, err := codec.AppendBatch(nil, b)
	if err != nil {
		return rota.Batch{}, err
	}
	decoded, err := codec.DecodeBatch(data)
	if err == nil {
		keepSent(decoded.Commands, b.Commands)
	}
	return decoded, err
}

// keepSent copies the field of a Finish that is not encoded, because it has a meaning in this
// process, which has the store too.
func keepSent(decoded, original []rota.Command) {
	for i, c := range original {
		switch c := c.(type) {
		case *rota.Finish:
			decoded[i].(*rota.Finish).Sent = c.Sent
		case *rota.All:
			keepSent(decoded[i].(*rota.All).Members, c.Members)
		}
	}
}

func throughResultsCodec(results []rota.Result) ([]rota.Result, error) {
	data, err := codec.AppendResults(nil, results)
	if err != nil {
		return nil, err
	}
	decoded, err := codec.DecodeResults(data)
	if err != nil {
		return nil, err
	}
	if again, err := codec.AppendResults(nil, decoded); err != nil || !bytes.Equal(again, data) {
		return nil, fmt.Errorf("decoded results have another encoding: %x, %x, %v", data, again, err)
	}
	return decoded, nil
}
