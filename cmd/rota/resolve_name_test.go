package main

import (
	"strings"
	"testing"
)

// TestLogOfNameSkipsExecutionsWithoutRun: the log of a name is that of the newest attempt that has started, however many
// executions after it have none.
func TestLogOfNameSkipsExecutionsWithoutRun(t *testing.T) {
	s := startServer(t)
	s.must("schedule create nightly --cron '0 2 1 1 *' --type noop")
	if _, errs, code := s.run("job logs nightly"); code != exitNotFound || !strings.Contains(errs, "nightly has no executions") {
		t.Errorf("exit %d without executions: %s", code, errs)
	}
	s.must("type pause noop")
	s.must("schedule trigger nightly")
	if _, errs, code := s.run("job logs nightly"); code != exitNotFound || !strings.Contains(errs, "no execution of nightly has started") {
		t.Errorf("exit %d without a run: %s", code, errs)
	}
	s.must("job cancel nightly")
	s.must("type resume noop")
	ran := idShape.FindString(s.must("job create --template nightly --wait -o json"))
	s.must("type pause noop")
	for range candidatesMax + 2 {
		s.must("schedule trigger nightly")
	}
	if _, errs, code := s.run("job logs nightly"); code != exitDone || !strings.Contains(errs, "nightly is "+ran) {
		t.Errorf("exit %d, with waiting executions: %s", code, errs)
	}
	s.must("job cancel --schedule nightly --yes")
	if _, errs, code := s.run("job logs nightly"); code != exitDone || !strings.Contains(errs, "nightly is "+ran) {
		t.Errorf("exit %d, with cancelled executions: %s", code, errs)
	}
}

// TestNameOfListComesFirst: a name that lists show stands for the execution with that name, also if a template, a schedule
// or a type without executions has the same name.
func TestNameOfListComesFirst(t *testing.T) {
	s := startServer(t)
	s.must("template create report --type noop")
	s.must("schedule create nightly --cron '0 2 1 1 *' --template report")
	id := idShape.FindString(s.must("schedule trigger nightly"))
	s.must("template create nightly --type noop")
	s.must("type put nightly")
	for _, line := range []string{"job show nightly", "execution show nightly", "explain nightly", "job runs nightly", "job show report", "job runs report"} {
		out, errs, code := s.run(line)
		if code != exitDone || !strings.Contains(out+errs, id) {
			t.Errorf("%s exits with %d: %s%s", line, code, out, errs)
		}
	}
}

// TestRetryOfNameTakesWhatItCanRetry: a dead letter first, then an execution that was cancelled or skipped; one that was
// retried does not count.
func TestRetryOfNameTakesWhatItCanRetry(t *testing.T) {
	s := startServer(t)
	s.must("schedule create nightly --cron '0 2 1 1 *' --type noop")
	s.must("type pause noop")
	cancelled := idShape.FindString(s.must("schedule trigger nightly"))
	s.must("job cancel nightly")
	if _, errs, code := s.run("dead retry nightly"); code != exitNotFound || !strings.Contains(errs, "is a dead letter") {
		t.Errorf("dead retry exits with %d: %s", code, errs)
	}
	retry := s.must("job retry nightly")
	if !strings.Contains(retry, " retries "+cancelled) {
		t.Errorf("not %s: %s", cancelled, retry)
	}
	if _, errs, code := s.run("job retry nightly"); code != exitNotFound || !strings.Contains(errs, "no execution of nightly can be retried") {
		t.Errorf("a second retry exits with %d: %s", code, errs)
	}
	s.must("job cancel nightly")
	if out := s.must("job retry nightly"); !strings.Contains(out, " retries "+idShape.FindString(retry)) {
		t.Errorf("the retry was cancelled, and is not the one that is retried: %s", out)
	}
	s.must("job cancel nightly")
	s.must("schedule trigger nightly")
	s.must("job cancel --schedule nightly --yes")
	if _, errs, code := s.run("job retry nightly"); code != exitUsage || !strings.Contains(errs, "stands for 2 executions, each of which can be retried") {
		t.Errorf("of two cancelled ones, exit %d: %s", code, errs)
	}
	s.run("job create fail --wait -p permanent=true -p message=x")
	dead := idShape.FindString(s.must("dead list"))
	if out := s.must("job retry fail"); !strings.Contains(out, " retries "+dead) {
		t.Errorf("not the dead letter %s: %s", dead, out)
	}
}

// TestNameThatIsTheBeginningOfAnIDIsTheName: the name wins, also if several ids begin with it, because a longer beginning
// names the id.
func TestNameThatIsTheBeginningOfAnIDIsTheName(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	_, jobs := s.groupOfTwo("noop")
	name := jobs[0][:8]
	if out, errs, code := s.run("job show " + name); code == exitDone {
		t.Fatalf("%s is not ambiguous: %s%s", name, out, errs)
	}
	s.must("schedule create " + name + " --cron '0 2 1 1 *' --type noop")
	if _, errs, code := s.run("job show " + name); code != exitNotFound || !strings.Contains(errs, name+" has no executions") {
		t.Errorf("without executions, exit %d: %s", code, errs)
	}
	id := idShape.FindString(s.must("schedule trigger " + name))
	for _, line := range []string{"job show ", "execution show ", "explain ", "job list --execution ", "job cancel "} {
		if out, errs, code := s.run(line + name); code != exitDone || !strings.Contains(out+errs, id) {
			t.Errorf("%s exits with %d: %s%s", line+name, code, out, errs)
		}
	}
	if out := s.must("job show " + jobs[0]); !strings.Contains(out, "queued") {
		t.Errorf("another job was changed:\n%s", out)
	}
}

// TestEmptyArgumentIsRefused: a script that passes a variable that is not set gets an error that says so.
func TestEmptyArgumentIsRefused(t *testing.T) {
	for line, want := range map[string]string{
		"job show": "needs an ID or a NAME; the argument is empty", "job logs": "the argument is empty", "schedule show": "needs a NAME; the argument is empty",
		"template archive": "needs a NAME; the argument is empty", "group show": "needs an ID; the argument is empty", "job runs": "needs a NAME; the argument is empty",
		"job cancel": "the id or name is empty", "dead retry": "the id or name is empty", "explain": "the argument is empty",
	} {
		if _, errs, code := runLine(line + " ''"); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s '' exits with %d: %s", line, code, errs)
		}
	}
}

// TestEmptyFilterIsRefused: an empty filter would select everything.
func TestEmptyFilterIsRefused(t *testing.T) {
	for line, flags := range map[string]string{
		"job cancel --state scheduled --yes": "schedule type template group state",
		"job retry --yes":                    "schedule type template group state",
		"dead retry --yes":                   "schedule type template group",
		"job list":                           "schedule type template group state execution name error code search unique scope since until",
		"job runs":                           "state",
		"execution list":                     "schedule type template group state name since",
		"dead list":                          "schedule type template group name since",
		"audit list":                         "actor subject schedule execution act since until",
		"audit export":                       "actor act since",
		"schedule list":                      "state template",
		"webhook deliveries":                 "state",
		"webhook list":                       "template",
		"events":                             "kind type",
	} {
		for flag := range strings.FieldsSeq(flags) {
			_, errs, code := runLine(line + " --" + flag + " ''")
			if code != exitUsage || !strings.Contains(errs, "--"+flag) || !strings.Contains(errs, "the value is empty") {
				t.Errorf("%s --%s '' exits with %d: %s", line, flag, code, errs)
			}
		}
	}
}
