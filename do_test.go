package rota_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

func TestDoReturnsReplyOrError(t *testing.T) {
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "mail"}}}
	enqueued, err := rota.Do[*rota.Enqueued](t.Context(), s, c)
	if err != nil || len(enqueued.Jobs) != 1 {
		t.Fatal(enqueued, err)
	}
	if _, err := rota.Do[*rota.Claimed](t.Context(), s, c); rota.CodeOf(err) != rota.Internal {
		t.Errorf("a reply of another type: %v", err)
	}
	if _, err := rota.Do[*rota.Enqueued](t.Context(), s, &rota.Enqueue{Meta: rota.NewMeta("")}); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a refusal: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := rota.Do[*rota.Enqueued](ended, s, c); !errors.Is(err, context.Canceled) || rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("an ended context: %v", err)
	}
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
	claimed, err := rota.Do[*rota.Claimed](t.Context(), s, claim)
	if err != nil {
		t.Fatal(err)
	}
	job := claimed.Jobs[0]
	finish := &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: job.Lease(), Outcome: rota.OutcomeCompleted}}}
	if finished, err := rota.Do[*rota.Finished](t.Context(), s, finish); err != nil || finished.Items[0].Code != "" {
		t.Errorf("%+v %v", finished, err)
	}
}

func TestTokenIsHiddenInFormatsAndJSON(t *testing.T) {
	token := rota.NewToken()
	job := &rota.Job{Run: &rota.Run{Token: token}}
	asJSON, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	lease := job.Lease()
	for _, shown := range []string{
		string(asJSON), fmt.Sprint(token), fmt.Sprintf("%v %+v %#v %x %d %s", token, lease, lease, token, token, &lease),
	} {
		for _, digits := range []string{token.Reveal(), fmt.Sprint([16]byte(token)), fmt.Sprintf("%d, %d", token[0], token[1])} {
			if strings.Contains(shown, digits) || !strings.Contains(shown, "[token]") {
				t.Errorf("shown as %s", shown)
			}
		}
	}
	if again, err := rota.ParseToken(token.Reveal()); err != nil || again != token {
		t.Errorf("read back as %s: %v", again.Reveal(), err)
	}
	for _, bad := range []string{"", "abc", strings.Repeat("z", 32), token.Reveal() + "00"} {
		if _, err := rota.ParseToken(bad); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
