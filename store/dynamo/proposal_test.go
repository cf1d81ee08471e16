package dynamo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

func TestBodyWithoutSlotIsRemoved(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+testParameters)
	defer s.Close()
	params := json.RawMessage(`{"text":"` + strings.Repeat("x", 2*inlineMax) + `"}`)
	p := newProposal(logstore.Entry{Batch: rota.Batch{Commands: []rota.Command{
		&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a", Params: params}}},
	}}})
	chunks := func(id rota.ID) int {
		all, err := s.log.table.queryAll(t.Context(), "test", chunkKey(id.String(), 0).text(attrPK))
		must(t, err)
		return len(all)
	}
	must(t, s.log.encode(t.Context(), p))
	first := p.id
	must(t, s.log.encode(t.Context(), p))
	if chunks(first) != 0 || chunks(p.id) != 1 {
		t.Errorf("%d chunks of the first encoding and %d of the second are there", chunks(first), chunks(p.id))
	}
	s.log.removeBody(t.Context(), p)
	if chunks(p.id) != 0 {
		t.Error("the chunks of a proposal that was given up are there")
	}
}

func TestTransactionsOfCallersAreRefused(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+testParameters)
	defer s.Close()
	_, _, err := s.ApplyTx(t.Context(), nil, rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}}}})
	if rota.CodeOf(err) != rota.Invalid || strings.Contains(err.Error(), "replica") {
		t.Errorf("a transaction of a caller: %v", err)
	}
}
