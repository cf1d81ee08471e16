package node

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// TestClaimCarriesSecretsToWorkerTokensOnly: a worker token gets the secrets of the template of a job with the claim, over
// loopback; the admin token does not get the job, and the answer says why.
func TestClaimCarriesSecretsToWorkerTokensOnly(t *testing.T) {
	l := start(t, Config{Data: t.TempDir()})
	l.wantStatus(201, "PUT", "/types/remote", `{}`)
	for _, name := range []string{"with", "without"} {
		l.wantStatus(201, "POST", "/templates", `{"name":"`+name+`","type":"remote","max_retries":0}`)
	}
	l.wantStatus(200, "PUT", "/secrets/with/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	claim := func() string {
		return l.wantStatus(http.StatusOK, "POST", "/claim", `{"worker":"w","types":["remote"],"limit":10}`)
	}
	l.enqueue(`{"template":"with"}`)
	l.enqueue(`{"template":"without"}`)
	text := claim()
	for _, form := range forms(testSecret) {
		if strings.Contains(text, string(form)) {
			t.Errorf("the admin token got %s", text)
		}
	}
	if strings.Count(text, `"lease_token"`) != 1 || !strings.Contains(text, `"withheld"`) || !strings.Contains(text, "token of scope worker") {
		t.Errorf("the admin token got %s", text)
	}
	l.enqueue(`{"template":"with"}`)
	l.useWorkerToken()
	if text := claim(); !strings.Contains(text, `"secrets":{"TOKEN":`+jsonText(testSecret)+`}`) {
		t.Errorf("the worker token got %s", text)
	}
}

// useWorkerToken sends the requests that follow with a token of scope worker.
func (l *testNode) useWorkerToken() {
	l.t.Helper()
	token := l.wantStatus(http.StatusCreated, "POST", "/tokens", `{"scope":"worker"}`)
	_, rest, _ := strings.Cut(token, `"token":"`)
	l.token, _, _ = strings.Cut(rest, `"`)
}

// TestClaimCarriesBinarySecretsInBase64: JSON would replace their bytes.
func TestClaimCarriesBinarySecretsInBase64(t *testing.T) {
	l := start(t, Config{Data: t.TempDir()})
	l.wantStatus(201, "PUT", "/types/remote", `{}`)
	l.wantStatus(201, "POST", "/templates", `{"name":"with","type":"remote"}`)
	l.wantStatus(200, "PUT", "/secrets/with/TEXT", `{"value":"a text"}`)
	sealed, err := l.vault.SealFor(t.Context(), "with", "BYTES", []byte("\xff\x00\xfe"))
	if err != nil {
		t.Fatal(err)
	}
	c := &rota.PutSecret{Meta: rota.NewMeta(""), Template: "with", Key: "BYTES", Sealed: sealed}
	if _, err := rota.Do[*rota.SecretPut](t.Context(), l.vault.Store.(rota.Store), c); err != nil {
		t.Fatal(err)
	}
	l.enqueue(`{"template":"with"}`)
	l.useWorkerToken()
	text := l.wantStatus(http.StatusOK, "POST", "/claim", `{"worker":"w","types":["remote"]}`)
	if !strings.Contains(text, `"secrets":{"TEXT":"a text"},"secrets_base64":{"BYTES":"/wD+"}`) {
		t.Errorf("%s", text)
	}
}

// TestClaimOfJobsWithSecretsIsBounded: a template may have 256 KiB of secrets, and each of its jobs gets all of them.
func TestClaimOfJobsWithSecretsIsBounded(t *testing.T) {
	l := start(t, Config{Data: t.TempDir()})
	l.wantStatus(201, "PUT", "/types/remote", `{}`)
	l.wantStatus(201, "POST", "/templates", `{"name":"with","type":"remote","max_retries":0}`)
	value := strings.Repeat("x", rota.SecretMax)
	for i := range rota.SecretBytesMax / rota.SecretMax {
		l.wantStatus(200, "PUT", fmt.Sprintf("/secrets/with/KEY_%d", i), `{"value":"`+value+`"}`)
	}
	refusal := l.wantStatus(422, "PUT", "/secrets/with/ONE_MORE", `{"value":"1234"}`)
	if !strings.Contains(refusal, "4 bytes") || !strings.Contains(refusal, "262144") {
		t.Errorf("one more: %s", refusal)
	}
	for range 150 {
		l.enqueue(`{"template":"with"}`)
	}
	l.useWorkerToken()
	claim := func() string {
		return l.wantStatus(http.StatusOK, "POST", "/claim", `{"worker":"w","types":["remote"],"limit":200}`)
	}
	text := claim()
	if n := strings.Count(text, `"lease_token"`); n != 128 || len(text) > rota.ClaimBytesMax*9/8 {
		t.Errorf("%d jobs in %d bytes", n, len(text))
	}
	if n := strings.Count(claim(), `"lease_token"`); n != 22 {
		t.Errorf("%d jobs are left", n)
	}
}
