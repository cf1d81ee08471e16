package node

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/secret"
)

// claimOne claims a job as a worker in another language does.
func (l *testNode) claimOne() (lease string, job api.ClaimedJob) {
	l.t.Helper()
	var claimed api.Claimed
	text := l.wantStatus(200, "POST", "/claim", `{"worker":"w","types":["remote"]}`)
	if err := json.Unmarshal([]byte(text), &claimed); err != nil || len(claimed.Items) != 1 {
		l.t.Fatalf("%s: %v", text, err)
	}
	job = claimed.Items[0]
	return fmt.Sprintf(`"run_id":"%s","job_id":"%s","lease_token":"%s"`, job.RunID, job.Job.ID, job.LeaseToken), job
}

// extend sends a heartbeat and returns the offset of the next part of the log.
func (l *testNode) extend(lease, fields string) int64 {
	l.t.Helper()
	var extended api.Extended
	text := l.wantStatus(200, "POST", "/extend", `{"items":[{`+lease+fields+`}]}`)
	if err := json.Unmarshal([]byte(text), &extended); err != nil || extended.Items[0].Code != api.LeaseOK {
		l.t.Fatalf("%s: %v", text, err)
	}
	if extended.Items[0].LogOffset == nil {
		return 0
	}
	return *extended.Items[0].LogOffset
}

func (l *testNode) finish(lease, fields string) {
	l.t.Helper()
	if text := l.wantStatus(200, "POST", "/finish", `{"items":[{`+lease+fields+`}]}`); !strings.Contains(text, `"code":"ok"`) {
		l.t.Fatal(text)
	}
}

// startRemote runs a node with a template with a secret and one without.
func startRemote(t *testing.T, dir string) *testNode {
	l := start(t, Config{Data: dir})
	l.wantStatus(201, "PUT", "/types/remote", `{}`)
	for _, name := range []string{"with", "without"} {
		l.wantStatus(201, "POST", "/templates", `{"name":"`+name+`","type":"remote","max_retries":0}`)
	}
	return l
}

// withToken calls a function with a token, and sends the other requests with the one before.
func (l *testNode) withToken(token string, f func()) {
	before := l.token
	l.token = token
	f()
	l.token = before
}

// spellings are ways in which a worker may send a value back.
func spellings(value string) map[string]string {
	return map[string]string{
		"plain": value, "base64": base64.StdEncoding.EncodeToString([]byte(value)), "inner base64": base64.StdEncoding.EncodeToString([]byte("xx" + value + "yy")),
		"URL": url.QueryEscape(value), "path": url.PathEscape(value), "hex": hex.EncodeToString([]byte(value)),
	}
}

// TestServerMasksWhatWorkersSend: a worker in another language sends a secret back in each field. None is stored, and a
// job of a template without secrets keeps every byte.
func TestServerMasksWhatWorkersSend(t *testing.T) {
	dir := t.TempDir()
	l := startRemote(t, dir)
	l.wantStatus(200, "PUT", "/secrets/with/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	admin := l.token
	l.useWorkerToken()
	var answers strings.Builder
	for name, spelled := range spellings(testSecret) {
		for _, template := range []string{"with", "without"} {
			word := spelled
			if template == "without" { // its value is not that of the secret, so that the test can search for that
				word = strings.Repeat("x", len(spelled))
			}
			text := jsonText("got " + word + ".")
			result := `{"a": [` + text + `,1.50],` + text + `:1}`
			var id rota.ID
			l.withToken(admin, func() { id = l.enqueue(`{"template":"` + template + `"}`) })
			lease, _ := l.claimOne()
			l.extend(lease, `,"progress":{"p":`+text+`}`)
			var job, log string
			show := func() {
				job = l.wantStatus(200, "GET", "/jobs/"+id.String(), "")
				_, log = l.request("GET", "/api/v1/jobs/"+id.String()+"/log", "")
				answers.WriteString(job + log)
			}
			l.withToken(admin, show)
			l.finish(lease, `,"outcome":"failed","error":`+text+`,"error_code":`+text+`,"result":`+result+`,"artifacts":[`+text+`],"log":`+jsonText("got "+word+".\n"))
			l.withToken(admin, show)
			if template == "without" {
				if strings.Count(job, "got "+word+".") != 6 || log != "got "+word+".\n" {
					t.Errorf("%s without secrets: %s, the log is %q", name, job, log)
				}
				continue
			}
			if strings.Count(job, "***") != 6 || !strings.HasPrefix(log, "got ") || strings.Count(log, "***") != 1 || len(log) > len("got ***.\n")+8 {
				t.Errorf("%s: %s, the log is %q", name, job, log)
			}
		}
	}
	l.token = admin
	for _, path := range []string{"/audit", "/jobs", "/dead"} {
		answers.WriteString(l.wantStatus(200, "GET", path, ""))
	}
	answers.WriteString(l.wantStatus(200, "POST", "/sql", `{"statement":"SELECT * FROM sys.job_runs"}`))
	for name, spelled := range spellings(testSecret) {
		if strings.Contains(answers.String(), spelled) {
			t.Errorf("an answer contains %s", name)
		}
	}
	wantInNoFile(t, dir, testSecret)
	l.stopCleanly()
	wantInNoFile(t, dir, testSecret)
}

// TestServerMasksPartsOfLogs: a value is divided between two parts of a log, and each part is sent twice. The end is stored without fields of
// the log in the finish.
func TestServerMasksPartsOfLogs(t *testing.T) {
	dir := t.TempDir()
	l := startRemote(t, dir)
	l.wantStatus(200, "PUT", "/secrets/with/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	admin := l.token
	l.useWorkerToken()
	whole := "begin " + testSecret + " " + base64.StdEncoding.EncodeToString([]byte(testSecret)) + "\n" + testSecret[:5]
	for size := 1; size < len(testSecret)+4; size++ {
		var id rota.ID
		l.withToken(admin, func() { id = l.enqueue(`{"template":"with"}`) })
		lease, _ := l.claimOne()
		offset := int64(0)
		for rest := whole; rest != ""; {
			n := min(size, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			part := fmt.Sprintf(`,"log":%s,"log_offset":%d`, jsonText(rest[:n]), offset)
			first := l.extend(lease, part)
			if offset = l.extend(lease, part); offset != first {
				t.Errorf("size %d: the offset is %d, then %d", size, first, offset)
			}
			rest = rest[n:]
		}
		if size%2 == 0 {
			l.finish(lease, fmt.Sprintf(`,"outcome":"completed","log_offset":%d`, offset))
		}
		l.finish(lease, `,"outcome":"completed"`)
		l.withToken(admin, func() {
			_, log := l.request("GET", "/api/v1/jobs/"+id.String()+"/log", "")
			if want := "begin *** ***\n" + testSecret[:5]; log != want {
				t.Errorf("size %d: %q, want %q", size, log, want)
			}
		})
	}
	wantInNoFile(t, dir, testSecret)
}

// TestServerWithoutTheKeyStoresOutcomesOnly: after a restart the values come from the store. If they cannot be opened, the outcome is
// recorded, and its texts are not.
func TestServerWithoutTheKeyStoresOutcomesOnly(t *testing.T) {
	dir := t.TempDir()
	l := startRemote(t, dir)
	l.wantStatus(200, "PUT", "/secrets/with/TOKEN", `{"value":`+jsonText(testSecret)+`}`)
	ids := []rota.ID{l.enqueue(`{"template":"with"}`), l.enqueue(`{"template":"with"}`)}
	admin := l.token
	l.useWorkerToken()
	worker := l.token
	var leases []string
	for range ids {
		lease, _ := l.claimOne()
		leases = append(leases, lease)
	}
	l.stopCleanly()
	l = start(t, Config{Data: dir})
	l.token = worker
	text := jsonText("got " + testSecret + ".")
	fields := `,"outcome":"completed","error":` + text + `,"error_code":` + text + `,"result":` + text + `,"artifacts":[` + text + `],"log":` + text
	l.finish(leases[0], fields)
	ring, err := secret.Load(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	l.vault.Keyring = ring
	if offset := l.extend(leases[1], `,"log":`+text+`,"progress":`+text); offset != 0 {
		t.Errorf("a part that cannot be masked was taken: %d", offset)
	}
	l.finish(leases[1], fields)
	for i, want := range []string{"got ***.", "could not open the secrets"} {
		l.withToken(admin, func() {
			job := l.wantStatus(200, "GET", "/jobs/"+ids[i].String(), "")
			_, log := l.request("GET", "/api/v1/jobs/"+ids[i].String()+"/log", "")
			if strings.Count(job, want) < 3 || !strings.Contains(job, `"COMPLETED"`) || !strings.Contains(log, want) {
				t.Errorf("%s\n%s", job, log)
			}
		})
	}
	wantInNoFile(t, dir, testSecret)
}
