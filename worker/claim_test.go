package worker

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// Nothing is run for such an answer.
func TestInvalidClaimAnswersAreRefused(t *testing.T) {
	for _, body := range []string{
		`{"items":[{"job":{}}]}`,
		`{"items":[{"run_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61","lease_token":"xyz","job":{"id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60","type":"mail"}}]}`,
		`{"items":[{"run_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61","lease_token":"` + rota.NewToken().Reveal() + `",
			"job":{"id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60","type":"mail"},"secrets_base64":{"A":"!"}}]}`,
	} {
		s := newFakeServer(t, respondOK(body)).store(Config{})
		if reply, err := s.claim(t.Context(), &rota.Claim{Meta: rota.NewMeta(""), Limit: 1}); rota.CodeOf(err) != rota.Internal {
			t.Errorf("%s is read as %v, %v", body, reply, err)
		}
	}
}

// TestClaimKeepsTheBytesOfSecrets: a secret that is not UTF-8 comes in base64.
func TestClaimKeepsTheBytesOfSecrets(t *testing.T) {
	body := `{"items":[{"run_id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61","lease_token":"` + rota.NewToken().Reveal() + `",
		"job":{"id":"01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60","type":"mail"},"secrets":{"A":"é"},"secrets_base64":{"B":"/wD+"}}]}`
	s := newFakeServer(t, respondOK(body)).store(Config{})
	reply, err := s.claim(t.Context(), &rota.Claim{Meta: rota.NewMeta(""), Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	values, err := s.secrets.Secrets(t.Context(), reply.(*rota.Claimed).Jobs[0])
	if err != nil || len(values) != 2 || values["A"] != "é" || values["B"] != "\xff\x00\xfe" {
		t.Errorf("%q, %v", values, err)
	}
}

// A timed-out run is retried, a cancelled one is not.
func TestTimeoutIsNotReadAsCancel(t *testing.T) {
	ref := rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}
	for reason, late := range map[string]bool{"timeout": true, "no longer wanted": false} {
		s := newFakeServer(t, respondOK(`{"items":[{"run_id":"`+ref.RunID.String()+`","code":"ok","cancel":true,"reason":"`+reason+`"}]}`)).store(Config{})
		reply, err := s.extend(t.Context(), &rota.Extend{Lease: time.Second, Items: []rota.ExtendItem{{LeaseRef: ref}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.(*rota.Extended).Items[0]; got.Overdue != late || got.Cancel == late {
			t.Errorf("the reason %q is read as %+v", reason, got)
		}
	}
}
