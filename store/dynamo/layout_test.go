package dynamo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

const layoutParameters = "&skew=2s&poll=200ms&page=3"

// servers are the servers that tests of single requests run on.
var servers = []dyntest.Kind{dyntest.Dynoxide, dyntest.Dynalite}

func onServers(t *testing.T, test func(t *testing.T, server *dyntest.Server)) {
	for _, kind := range servers {
		t.Run(string(kind), func(t *testing.T) { test(t, dyntest.Shared(t, kind)) })
	}
}

// eventually waits until a check passes.
func eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("after %s: %v", within, err)
}

// apply applies one command and returns its reply.
func apply[R rota.Reply](t testing.TB, s rota.Store, c rota.Command) R {
	t.Helper()
	results, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{c}})
	if err == nil && results[0].Err != nil {
		err = results[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
	return results[0].Reply.(R)
}

func enqueue(t testing.TB, s rota.Store, jobs ...rota.NewJob) []rota.Submitted {
	t.Helper()
	return apply[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta("tester"), Jobs: jobs}).Jobs
}

func claim(t testing.TB, s rota.Store, typ string) *rota.Job {
	t.Helper()
	c := &rota.Claim{Meta: rota.NewMeta(""), Worker: "worker-7", Types: []string{typ}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
	jobs := apply[*rota.Claimed](t, s, c).Jobs
	if len(jobs) != 1 {
		t.Fatalf("%d jobs of type %s were claimed", len(jobs), typ)
	}
	return jobs[0]
}

func finish(t testing.TB, s rota.Store, j *rota.Job, item rota.FinishItem) {
	t.Helper()
	item.LeaseRef = rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
	apply[*rota.Finished](t, s, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}})
}

// items returns the items of jobs in the table, by their sort keys.
func items(t testing.TB, s *testStore) map[string]item {
	t.Helper()
	all, err := s.log.table.queryAll(context.Background(), "test", jobPK)
	if err != nil {
		t.Fatal(err)
	}
	byPlace := map[string]item{}
	for _, i := range all {
		byPlace[i.text(attrSK)] = i
	}
	return byPlace
}

// shown returns the attributes of an item as texts, without its keys and the entry.
func shown(i item) map[string]string {
	texts := map[string]string{}
	for name, value := range i {
		switch name {
		case attrPK, attrSK, attrEntry:
			continue
		}
		text, _ := json.Marshal(plain(value))
		texts[name] = strings.Trim(string(text), `"`)
	}
	return texts
}

// checkItems compares all items with the executions of the replica.
func checkItems(t testing.TB, s *testStore) error {
	t.Helper()
	page, err := s.log.replica.Jobs(logstore.Local(context.Background()), rota.JobQuery{Tails: true, Limit: rota.PageMax})
	if err != nil || len(page) == rota.PageMax {
		t.Fatal(err, len(page))
	}
	there := items(t, s)
	for _, j := range page {
		attempts, err := s.log.replica.Execution(logstore.Local(context.Background()), j.ExecutionID)
		if err != nil {
			t.Fatal(err)
		}
		want := layoutItem(attempts, 0, &rota.DefaultRetention)
		got, is := there[want.text(attrSK)]
		if !is {
			return fmt.Errorf("the item of %s is missing at %s; there are %d", j.ID, want.text(attrSK), len(there))
		}
		wanted, found := shown(want), shown(got)
		if j.ScopeKind == rota.ItemScopeKind { // its program has written these
			for _, name := range []string{attrPayload, attrScheduledFor, attrCreatedAt} {
				delete(wanted, name)
				delete(found, name)
			}
		}
		if !maps.Equal(wanted, found) {
			return fmt.Errorf("the item of %s is %v; want %v", j.ID, found, wanted)
		}
		delete(there, want.text(attrSK))
	}
	for sk, i := range there {
		if i[attrEntry] != nil && i.number(attrEntry) > 0 && i[attrTTL] == nil { // pruned ones have a TTL
			return fmt.Errorf("there is an item of no execution at %s: %v", sk, shown(i))
		}
	}
	return nil
}

func TestItemsFollowTheLog(t *testing.T) {
	onServers(t, func(t *testing.T, server *dyntest.Server) {
		s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
		defer s.Close()
		retries := 2
		job := enqueue(t, s, rota.NewJob{
			Type: "user_sync", Params: json.RawMessage(`{"user":"u1"}`), MaxRetries: &retries, UniqueKey: "u1#2026-11-19",
		})[0].Job
		first := placeAt(job.CreatedAt, job.ID)
		expect := func(sk, want string, others ...string) {
			t.Helper()
			eventually(t, 5*time.Second, func() error {
				there := items(t, s)
				texts := shown(there[sk])
				if got := texts[attrStatus] + " " + texts[attrAttempts]; got != want {
					return fmt.Errorf("the item at %s is %q; want %q; there are %v", sk, got, want, there)
				}
				if len(there) != 1 {
					return fmt.Errorf("there are %d items", len(there))
				}
				for n := 0; n < len(others); n += 2 {
					if got := texts[others[n]]; got != others[n+1] {
						return fmt.Errorf("%s is %q; want %q", others[n], got, others[n+1])
					}
				}
				return nil
			})
		}
		expect(first, "pending 0", attrJobType, "user_sync", attrPayload, `{\"user\":\"u1\"}`, attrScheduledFor, itemTime(job.CreatedAt), attrLockedBy, "", attrTTL, "")
		run := claim(t, s, "user_sync")
		expect(first, "in_progress 0", attrLockedBy, "worker-7", attrLockExpires, itemTime(run.Run.StaleAfter))
		finish(t, s, run, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no answer"})
		retry := apply[*rota.Edited](t, s, &rota.Edit{Meta: rota.NewMeta(""), JobID: job.ID, RunNow: true}).Job
		expect(place(retry), "failed 1", attrLastError, "no answer", attrLockedBy, "")
		finish(t, s, claim(t, s, "user_sync"), rota.FinishItem{Outcome: rota.OutcomeCompleted})
		attempts, err := s.Execution(t.Context(), job.ID)
		if err != nil {
			t.Fatal(err)
		}
		end := attempts[len(attempts)-1]
		expect(place(retry), "completed 1", attrCompletedAt, itemTime(end.FinishedAt), attrTTL, fmt.Sprint(end.FinishedAt.Add(30*24*time.Hour).Unix()))
		if err := checkItems(t, s); err != nil {
			t.Error(err)
		}
	})
}

// foreign returns an item as a program that was written to document 004 puts it.
func foreign(at time.Time, typ string, payload types.AttributeValue) item {
	written := at.UTC().Format("2006-01-02T15:04:05.000000-07:00")
	i := key(jobPK, placePrefix+written+"#"+uuid.NewString())
	i[attrJobType], i[attrScheduledFor], i[attrStatus] = stringValue(typ), stringValue(written), stringValue(statusPending)
	i[attrAttempts], i[attrCreatedAt] = numberValue(0), stringValue(written)
	if payload != nil {
		i[attrPayload] = payload
	}
	return i
}

func putItem(t testing.TB, s *testStore, i item) (id rota.ID) {
	t.Helper()
	if err := s.log.table.put(t.Context(), "test", i); err != nil {
		t.Fatal(err)
	}
	id, err := rota.ParseID(i.text(attrSK)[strings.LastIndexByte(i.text(attrSK), '#')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func statusAt(t testing.TB, s *testStore, sk string) string {
	t.Helper()
	return items(t, s)[sk].text(attrStatus)
}

func TestItemsOfOtherProgramsAreEnqueuedOnce(t *testing.T) {
	onServers(t, func(t *testing.T, server *dyntest.Server) {
		url := server.URL(server.TableName(t)) + layoutParameters
		s, other := openTest(t, url), openTest(t, url)
		defer s.Close()
		defer other.Close()
		now := time.Now()
		object := &types.AttributeValueMemberM{Value: item{"user": stringValue("u1"), "n": numberValue(7), "list": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberNULL{Value: true},
		}}}}
		put := map[rota.ID]item{}
		for n := range 10 {
			var params types.AttributeValue = object
			if n%2 == 0 {
				params = stringValue(`{"user":"u1","n":7,"list":[true,null]}`)
			}
			i := foreign(now.Add(-time.Duration(n)*time.Hour), "daily_summary", params)
			put[putItem(t, s, i)] = i
		}
		future := foreign(now.Add(time.Hour), "daily_summary", object)
		putItem(t, s, future)
		locked := foreign(now, "daily_summary", object)
		locked[attrLockedBy], locked[attrLockExpires] = stringValue("python-1"), stringValue(itemTime(now.Add(time.Hour)))
		putItem(t, s, locked)
		ran := map[rota.ID]bool{}
		eventually(t, 10*time.Second, func() error {
			c := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"daily_summary"}, Limit: 20, Lease: time.Minute, Seed: rota.NewToken()}
			for _, j := range apply[*rota.Claimed](t, other, c).Jobs {
				if put[j.ID] == nil || ran[j.ID] {
					t.Fatalf("job %s ran; %d did before", j.ID, len(ran))
				}
				var params struct {
					User string
					N    int
					List []any
				}
				if err := json.Unmarshal(j.Params, &params); err != nil || params.User != "u1" || params.N != 7 || len(params.List) != 2 {
					t.Fatalf("the payload is %s", j.Params)
				}
				ran[j.ID] = true
				finish(t, other, j, rota.FinishItem{Outcome: rota.OutcomeCompleted})
			}
			if len(ran) != len(put) {
				return fmt.Errorf("%d of %d ran", len(ran), len(put))
			}
			return nil
		})
		eventually(t, 10*time.Second, func() error {
			for _, i := range put {
				if got := statusAt(t, s, i.text(attrSK)); got != statusCompleted {
					return fmt.Errorf("an item is %s", got)
				}
			}
			return nil
		})
		for what, i := range map[string]item{"of the future": future, "that another worker has locked": locked} {
			if there := items(t, s)[i.text(attrSK)]; there.text(attrStatus) != statusPending || there[attrEntry] != nil {
				t.Errorf("an item %s is %v", what, shown(there))
			}
		}
		for v, err := range s.Verify(t.Context()) {
			t.Errorf("the store breaks %s: %s %v", v.Check, v.Detail, err)
		}
		for n, i := range items(t, s) {
			if !strings.Contains(i.text(attrSK), i.text(attrScheduledFor)) {
				t.Errorf("scheduled_for of %s is %s", n, i.text(attrScheduledFor))
			}
			if _, isMap := i[attrPayload].(*types.AttributeValueMemberM); isMap != (put[idOf(t, i)][attrPayload] == types.AttributeValue(object) || put[idOf(t, i)] == nil) {
				t.Errorf("the form of the payload of %s has changed", n)
			}
		}
	})
}

func idOf(t testing.TB, i item) rota.ID {
	t.Helper()
	id, err := rota.ParseID(i.text(attrSK)[strings.LastIndexByte(i.text(attrSK), '#')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestItemsThatCannotRunBecomeDeadLetters(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
	defer s.Close()
	schema := json.RawMessage(`{"type":"object","required":["user"],"properties":{"user":{"type":"string"}}}`)
	apply[*rota.TypePut](t, s, &rota.PutType{Meta: rota.NewMeta(""), Name: "strict", Spec: rota.TypeSpec{Schema: schema}})
	now := time.Now()
	bad := map[string]item{
		"user":      foreign(now, "strict", stringValue(`{}`)),
		"no JSON":   foreign(now, "strict", stringValue(`{`)),
		"type":      foreign(now, "", stringValue(`{}`)),
		"neither":   foreign(now, "strict", numberValue(7)),
		"ends in a": foreign(now, "strict", stringValue(`{}`)),
		"write a t": foreign(now, "strict", stringValue(`{}`)),
	}
	bad["ends in a"][attrSK] = stringValue(placePrefix + itemTime(now) + "#x")
	bad["write a t"][attrSK] = stringValue(placePrefix + "2020#" + uuid.NewString())
	for _, i := range bad {
		if err := s.log.table.put(t.Context(), "test", i); err != nil {
			t.Fatal(err)
		}
	}
	good := foreign(now, "strict", stringValue(`{"user":"u1"}`))
	putItem(t, s, good)
	eventually(t, 10*time.Second, func() error {
		there := items(t, s)
		for reason, i := range bad {
			got := there[i.text(attrSK)]
			if got.text(attrStatus) != statusDead || !strings.Contains(got.text(attrLastError), reason) {
				return fmt.Errorf("%s: the item is %v", reason, shown(got))
			}
		}
		if there[good.text(attrSK)][attrEntry] == nil {
			return fmt.Errorf("the valid item is not enqueued")
		}
		return nil
	})
}

func TestExecutionsOfForeignItemsArePruned(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s, err := Open(t.Context(), server.URL(server.TableName(t))+layoutParameters, Config{
		Dir: t.TempDir(), Retention: rota.Retention{Completed: rota.Keep{Age: time.Second}, Cancelled: rota.Keep{Age: time.Hour}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	test := &testStore{Store: s}
	put := func(typ string) (id rota.ID) {
		i := foreign(time.Now(), typ, nil)
		for idOf(t, i).Compare(firstID(time.Now().AddDate(0, 0, 2))) < 0 { // a random id that seems to be of the past is pruned as any other
			i = foreign(time.Now(), typ, nil)
		}
		return putItem(t, test, i)
	}
	ended, kept := put("done"), put("kept")
	exists := func(id rota.ID) bool {
		_, err := s.Job(t.Context(), id)
		return err == nil
	}
	eventually(t, 10*time.Second, func() error {
		if !exists(ended) || !exists(kept) {
			return fmt.Errorf("the items are not enqueued")
		}
		return nil
	})
	finish(t, s, claim(t, s, "done"), rota.FinishItem{Outcome: rota.OutcomeCompleted})
	apply[*rota.CancelledJob](t, s, &rota.Cancel{Meta: rota.NewMeta(""), JobID: kept})
	eventually(t, 10*time.Second, func() error {
		if exists(ended) || !exists(kept) {
			return fmt.Errorf("the job that has completed exists: %t; the one that was cancelled: %t", exists(ended), exists(kept))
		}
		return nil
	})
}

// TestItemsFollowAnotherLeader covers a leader that ends before it has written all items.
func TestItemsFollowAnotherLeader(t *testing.T) {
	server := dyntest.Start(t, dyntest.Dynoxide)
	proxy, name := server.Proxy(t), server.TableName(t)
	first := openTest(t, proxy.URL(name)+layoutParameters)
	enqueue(t, first, rota.NewJob{Type: "a"})
	eventually(t, 5*time.Second, func() error { return checkItems(t, first) })
	other := openTest(t, server.URL(name)+layoutParameters)
	defer other.Close()

	proxy.Fail(dyntest.ThroughputExceeded, "BatchWriteItem")
	for n := range 30 {
		jobs := enqueue(t, first, rota.NewJob{Type: "a"}, rota.NewJob{Type: "b", UniqueKey: fmt.Sprint(n)})
		if n%3 == 0 {
			finish(t, other, claim(t, other, "a"), rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "again"})
			apply[*rota.Edited](t, other, &rota.Edit{Meta: rota.NewMeta(""), JobID: jobs[1].Job.ID, RunAt: time.Now().Add(time.Hour)})
		}
	}
	eventually(t, 5*time.Second, func() error {
		if lag := first.LayoutLag(); lag < time.Second {
			return fmt.Errorf("the leader reports a lag of %s", lag)
		}
		return nil
	})
	if checkItems(t, other) == nil {
		t.Fatal("nothing is left to write")
	}
	must(t, first.Close()) // gives the lead up
	eventually(t, 20*time.Second, func() error { return checkItems(t, other) })
	if lag := other.LayoutLag(); lag > time.Second {
		t.Errorf("the lag is %s", lag)
	}
}

// TestRecordOfPlanExpires covers the records of planned times, which nothing else removes.
func TestRecordOfPlanExpires(t *testing.T) {
	job := &rota.Job{Type: "user_sync", Schedule: "daily", PlanTime: time.Now()}
	running := key(jobPK, "scheduled#x")
	if record := planRecord(job, running); record[attrTTL] != nil || record.text(attrJobSK) != "scheduled#x" {
		t.Errorf("the record of a running job is %v", shown(record))
	}
	running.expires(time.Now())
	if record := planRecord(job, running); record[attrTTL] != running[attrTTL] {
		t.Errorf("the record of a job that has ended is %v", shown(record))
	}
}

func TestPayloadOfBinarySet(t *testing.T) {
	payload := &types.AttributeValueMemberM{Value: item{"set": &types.AttributeValueMemberBS{Value: [][]byte{{1, 2}}}}}
	if text, err := payloadOf(item{attrPayload: payload}); err != nil || string(text) != `{"set":["AQI="]}` {
		t.Errorf("%s, %v", text, err)
	}
}

// TestItemAtTheSizeLimit covers items of other programs that have no space for the attributes of Rota.
func TestItemAtTheSizeLimit(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
	defer s.Close()
	fill := func(i item) item {
		i[attrPayload] = stringValue("")
		i[attrPayload] = stringValue(`{"a":"` + strings.Repeat("x", itemBytesMax-i.size()-20) + `"}`)
		return i
	}
	valid, refused := fill(foreign(time.Now(), "user_sync", nil)), fill(foreign(time.Now().Add(-time.Second), "not a type", nil))
	last := foreign(time.Now(), "user_sync", stringValue(`{}`))
	for _, i := range []item{valid, refused, last} {
		putItem(t, s, i)
	}
	for _, i := range []item{valid, last} {
		eventually(t, 10*time.Second, func() error {
			if there := items(t, s)[i.text(attrSK)]; there[attrEntry] == nil {
				return fmt.Errorf("the item %s is not kept current", i.text(attrSK))
			}
			return nil
		})
	}
}

// TestFilledReplicaKeepsItems covers a leader with a replica that has all slots of the log to apply again.
func TestFilledReplicaKeepsItems(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	url := server.URL(server.TableName(t)) + layoutParameters
	s := openTest(t, url)
	job := enqueue(t, s, rota.NewJob{Type: "user_sync"})[0].Job
	eventually(t, 10*time.Second, func() error {
		mark, err := s.log.table.get(t.Context(), "test", markKey())
		if err == nil && mark.number(attrEntry) == 0 {
			err = fmt.Errorf("there is no mark")
		}
		return err
	})
	if _, err := s.log.table.remove(t.Context(), "test", key(jobPK, place(job)), "", nil, nil); err != nil {
		t.Fatal(err)
	}
	must(t, s.Close())
	filled := openTest(t, url)
	defer filled.Close()
	next := enqueue(t, filled, rota.NewJob{Type: "user_sync"})[0].Job
	eventually(t, 10*time.Second, func() error {
		if items(t, filled)[place(next)] == nil {
			return fmt.Errorf("the leader writes no items")
		}
		return nil
	})
	if items(t, filled)[place(job)] != nil {
		t.Error("an item that was written before was written again")
	}
}

// TestPrunedItemIsNotEnqueuedAgain covers a job that was pruned before the leader has written its item.
func TestPrunedItemIsNotEnqueuedAgain(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+"&skew=2s&poll=1h")
	defer s.Close()
	eventually(t, 5*time.Second, func() error {
		if !s.log.lead.leads() {
			return fmt.Errorf("the process does not lead")
		}
		return nil
	})
	i := foreign(time.Now().Add(-time.Minute), "user_sync", stringValue(`{}`))
	id := putItem(t, s, i)
	must(t, s.log.poller.poll(t.Context()))
	finish(t, s, claim(t, s, "user_sync"), rota.FinishItem{Outcome: rota.OutcomeCompleted})
	apply[*rota.Pruned](t, s, &rota.Prune{Meta: rota.NewMeta(""), Executions: []rota.ID{id}})
	must(t, s.log.poller.poll(t.Context()))
	if j, err := s.Job(t.Context(), id); err == nil {
		t.Errorf("the job was enqueued again: %+v", j)
	}

	twice := foreign(time.Now().Add(-time.Hour), "user_sync", stringValue(`{}`))
	enqueued := enqueue(t, s, rota.NewJob{Type: "user_sync"})[0].Job
	twice[attrSK] = stringValue(placeAt(time.Now().Add(-time.Hour), enqueued.ID))
	putItem(t, s, twice)
	s.log.poller.polls = 0 // the next one reads the last day again
	must(t, s.log.poller.poll(t.Context()))
	if there := items(t, s)[twice.text(attrSK)]; there.text(attrStatus) != statusDead || !strings.Contains(there.text(attrLastError), "UUID") {
		t.Errorf("an item with the id of another job is %v", shown(there))
	}
}
