package node

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// TestTimeoutIsShownAsFailure: a run that timed out is stored as CANCELLED, and every interface shows a failure.
func TestTimeoutIsShownAsFailure(t *testing.T) {
	n := start(t, Config{Data: t.TempDir()})
	const job = `{"type": "sleep", "params": {"for": "1h"}, "timeout": "20ms", "max_retries": %d, "backoff": "1h"}`
	retried, dead := n.enqueue(fmt.Sprintf(job, 1)), n.enqueue(fmt.Sprintf(job, 0))
	n.await(rota.EventJobFailed, retried)
	n.await(rota.EventJobDead, dead)
	for _, test := range []struct {
		id              rota.ID
		execution, runs string
	}{{retried, "failed", "PENDING"}, {dead, "dead", "FAILED"}} {
		shown := n.object("/api/v1/jobs/" + test.id.String())
		run := shown["run"].(map[string]any)
		n.want("stored", fmt.Sprint(shown["status"], run["status"], run["error_code"]), "RUNNINGCANCELLEDtimeout")
		n.want("state of the job", shown["state"], "failed")
		n.want("state of the execution", n.object("/api/v1/executions/" + test.id.String())["state"], test.execution)
		n.want("kinds of events", n.kindsOf(test.id), map[string]string{
			"failed": "job.enqueued job.started job.failed job.enqueued", "dead": "job.enqueued job.started job.failed job.dead",
		}[test.execution])
		n.want("sys.job_runs", n.cell("SELECT state FROM sys.job_runs WHERE job_run_uuid = '"+test.id.String()+"'"), test.runs)
		n.want("sys.executions", n.cell("SELECT status FROM sys.executions WHERE id = '"+test.id.String()+"'"), "FAILED")
		audit := "SELECT count(*) FROM sys.audit WHERE job_run_uuid = '" + test.id.String() + "' AND event_type = "
		n.want("failures in the audit", n.cell(audit+"'JOB_FAILED'"), 1.0)
		n.want("cancels in the audit", n.cell(audit+"'JOB_CANCELLED'"), 0.0)
	}
	for path, count := range map[string]int{
		"/api/v1/jobs?state=failed": 2, "/api/v1/jobs?state=cancelled": 0,
		"/api/v1/executions?state=failed": 1, "/api/v1/executions?state=dead": 1, "/api/v1/executions?state=cancelled": 0, "/api/v1/dead": 1,
	} {
		n.want(path, len(n.object(path)["items"].([]any)), count)
	}
	n.want("dead letters in /stats", n.object("/api/v1/stats")["dead"], 1.0)
	n.want("dead letters in sys.performance", n.cell("SELECT value FROM sys.performance WHERE metric = 'jobs_dead'"), 1.0)
	n.want("FAILED in sys.job_runs", n.cell("SELECT count(*) FROM sys.job_runs WHERE state = 'FAILED'"), 1.0)
	n.want("CANCELLED in sys.job_runs", n.cell("SELECT count(*) FROM sys.job_runs WHERE state = 'CANCELLED'"), 0.0)
	for name, value := range map[string]string{
		`jobs_failed_total{type="sleep"}`: "2", `rota_finished_total{outcome="failed",type="sleep"}`: "2",
		`rota_finished_total{outcome="cancelled",type="sleep"}`: "0", `rota_dead_letters_total{type="sleep"}`: "1",
	} {
		n.want(name, n.metric(name), value)
	}
}

func (l *testNode) want(what string, got, wanted any) {
	l.t.Helper()
	if got != wanted {
		l.t.Errorf("%s: %v, want %v", what, got, wanted)
	}
}

// object reads an answer.
func (l *testNode) object(path string) (found map[string]any) {
	l.t.Helper()
	_, text := l.request("GET", path, "")
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		l.t.Fatalf("%s: %v: %s", path, err, text)
	}
	return found
}

// cell returns the only value of a query.
func (l *testNode) cell(statement string) any {
	l.t.Helper()
	body, _ := json.Marshal(map[string]string{"statement": statement})
	_, text := l.request("POST", "/api/v1/sql", string(body))
	var answer struct{ Rows [][]any }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Rows) != 1 {
		l.t.Fatalf("%s: %v: %s", statement, err, text)
	}
	return answer.Rows[0][0]
}

// kindsOf returns the kinds of the events of an execution, in their order.
func (l *testNode) kindsOf(execution rota.ID) string {
	l.t.Helper()
	entries, _ := l.events.Since(0)
	var kinds []string
	for _, entry := range entries {
		if entry.ExecutionID == execution {
			kinds = append(kinds, string(entry.Kind))
		}
	}
	return strings.Join(kinds, " ")
}
