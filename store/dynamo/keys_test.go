package dynamo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// putRecord writes the record of a key as another program does; it reports whether the key was free.
func putRecord(t testing.TB, s *testStore, typ, unique, sk string) bool {
	t.Helper()
	_, err := s.log.table.client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: &s.log.table.name, Item: newRecord(typ, unique, sk), ConditionExpression: aws.String(isNew),
	})
	if err != nil && !isConditionFailed(err) {
		t.Fatal(err)
	}
	return err == nil
}

// holderOf returns the job_sk of the record of a key.
func holderOf(t testing.TB, s *testStore, typ, unique string) string {
	t.Helper()
	i, err := s.log.table.get(t.Context(), "test", recordKey(typ, unique))
	if err != nil {
		t.Fatal(err)
	}
	return i.text(attrJobSK)
}

func TestKeysAreSharedWithOtherPrograms(t *testing.T) {
	onServers(t, func(t *testing.T, server *dyntest.Server) {
		s := openTest(t, server.URL(server.TableName(t))+strings.Replace(layoutParameters, "poll=200ms", "poll=1h", 1))
		defer s.Close()
		keyed := func(n int) rota.NewJob {
			return rota.NewJob{Type: "daily_summary", Params: json.RawMessage(`{}`), UniqueKey: fmt.Sprintf("u%d#2026-11-19", n)}
		}
		refer := func(n int, sk string) {
			t.Helper()
			if !putRecord(t, s, "daily_summary", keyed(n).UniqueKey, sk) {
				t.Fatalf("the key %d is not free", n)
			}
		}

		own := enqueue(t, s, keyed(1))[0]
		if own.Duplicate || putRecord(t, s, "daily_summary", keyed(1).UniqueKey, "x") {
			t.Errorf("another program could take the key of %+v", own)
		}
		if sk := holderOf(t, s, "daily_summary", keyed(1).UniqueKey); sk != place(own.Job) || items(t, s)[sk] == nil {
			t.Errorf("the record refers to %q, whose item is %v", sk, items(t, s)[sk])
		}

		pending := foreign(time.Now(), "daily_summary", stringValue(`{"from":"python"}`))
		id := putItem(t, s, pending)
		refer(2, pending.text(attrSK))
		got := enqueue(t, s, keyed(3), keyed(2), keyed(4))
		if got[0].Duplicate || !got[1].Duplicate || got[2].Duplicate || got[1].Job == nil || got[1].Job.ID != id {
			t.Fatalf("beside a key that a pending item holds: %+v", got)
		}
		if again := enqueue(t, s, keyed(2))[0]; !again.Duplicate || again.Job.ID != id {
			t.Errorf("the second time: %+v", again)
		}

		running := foreign(time.Now(), "daily_summary", stringValue(`{}`))
		running[attrStatus] = stringValue(statusInProgress)
		putItem(t, s, running)
		refer(5, running.text(attrSK))
		if got := enqueue(t, s, keyed(5)); len(got) != 1 || !got[0].Duplicate || got[0].Job != nil {
			t.Errorf("a key whose job another program runs: %+v", got)
		}
		group := &rota.EnqueueGroup{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{keyed(6), keyed(5)}}
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{group, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{keyed(7)}}}})
		if err != nil || results[0].Err == nil || results[0].Err.Code != rota.Conflict || results[1].Err != nil {
			t.Errorf("a group with a key that is held: %v, %+v", err, results)
		}
		if holderOf(t, s, "daily_summary", keyed(6).UniqueKey) != "" {
			t.Error("a group that was refused has taken a key")
		}

		odd := recordKey("daily_summary", keyed(10).UniqueKey)
		odd["note"] = stringValue("no record")
		must(t, s.log.table.put(t.Context(), "test", odd))
		if got := enqueue(t, s, keyed(10))[0]; got.Duplicate || holderOf(t, s, "daily_summary", keyed(10).UniqueKey) != place(got.Job) {
			t.Errorf("a record without job_sk was not taken over: %+v", got)
		}

		dead := foreign(time.Now(), "daily_summary", stringValue(`{}`))
		dead[attrStatus] = stringValue(statusDead)
		putItem(t, s, dead)
		refer(8, dead.text(attrSK))
		refer(9, foreign(time.Now(), "daily_summary", nil).text(attrSK)) // its item is gone
		for _, n := range []int{8, 9} {
			begun := time.Now()
			if got := enqueue(t, s, keyed(n))[0]; got.Duplicate || holderOf(t, s, "daily_summary", keyed(n).UniqueKey) != place(got.Job) {
				t.Errorf("the key %d was not taken over: %+v", n, got)
			}
			if waited := time.Since(begun); n == 9 && waited < keyWait {
				t.Errorf("the record without an item was taken over after %s", waited)
			}
		}
	})
}

// TestItemFollowsItsRecord covers a program that writes the record before the item.
func TestItemFollowsItsRecord(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
	defer s.Close()
	i := foreign(time.Now(), "user_sync", stringValue(`{}`))
	putRecord(t, s, "user_sync", "u1", i.text(attrSK))
	go func() {
		time.Sleep(keyWait / 3)
		_ = s.log.table.put(t.Context(), "test", i)
	}()
	if got := enqueue(t, s, rota.NewJob{Type: "user_sync", UniqueKey: "u1"})[0]; !got.Duplicate || got.Job.ID != idOf(t, i) {
		t.Errorf("%+v", got)
	}
}

func TestRecordsFollowTheirJobs(t *testing.T) {
	onServers(t, func(t *testing.T, server *dyntest.Server) {
		s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
		defer s.Close()
		retries := 0
		keyed := func(key string) rota.NewJob {
			return rota.NewJob{Type: "user_sync", UniqueKey: key, MaxRetries: &retries}
		}
		record := func(key string, want string) {
			t.Helper()
			eventually(t, 5*time.Second, func() error {
				if got := holderOf(t, s, "user_sync", key); got != want {
					return fmt.Errorf("the record of %s refers to %q; want %q", key, got, want)
				}
				return nil
			})
		}
		dies := enqueue(t, s, keyed("dies"))[0].Job
		record("dies", place(dies))
		finish(t, s, claim(t, s, "user_sync"), rota.FinishItem{Outcome: rota.OutcomeFailed})
		record("dies", "")
		redriven := apply[*rota.Redriven](t, s, &rota.Redrive{Meta: rota.NewMeta(""), JobID: dies.ID}).Job
		record("dies", place(redriven))
		finish(t, s, claim(t, s, "user_sync"), rota.FinishItem{Outcome: rota.OutcomeCompleted})
		eventually(t, 5*time.Second, func() error {
			i, err := s.log.table.get(t.Context(), "test", recordKey("user_sync", "dies"))
			if err != nil || i.number(attrTTL) == 0 || i.text(attrJobSK) != place(redriven) {
				return fmt.Errorf("the record of a completed job is %v, %v", shown(i), err)
			}
			return nil
		})

		moves := enqueue(t, s, keyed("moves"))[0].Job
		moved := apply[*rota.Edited](t, s, &rota.Edit{Meta: rota.NewMeta(""), JobID: moves.ID, RunAt: time.Now().Add(time.Hour)}).Job
		record("moves", place(moved))
		apply[*rota.CancelledJob](t, s, &rota.Cancel{Meta: rota.NewMeta(""), JobID: moves.ID})
		record("moves", "")
		if err := checkItems(t, s); err != nil {
			eventually(t, 5*time.Second, func() error { return checkItems(t, s) })
		}
	})
}

// TestManyKeysAtOnce covers more keys than one transaction has space for.
func TestManyKeysAtOnce(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	url := server.URL(server.TableName(t)) + layoutParameters
	s, other := openTest(t, url), openTest(t, url)
	defer s.Close()
	defer other.Close()
	var jobs []rota.NewJob
	for n := range 3 * claimsMax {
		jobs = append(jobs, rota.NewJob{Type: "user_sync", UniqueKey: fmt.Sprintf("u%d", n)})
	}
	results := make(chan []rota.Submitted, 2)
	for _, store := range []*testStore{s, other} {
		go func() { results <- enqueue(t, store, jobs...) }()
	}
	first, second := <-results, <-results
	for n := range jobs {
		if first[n].Duplicate == second[n].Duplicate || first[n].Job.ID != second[n].Job.ID {
			t.Fatalf("the key %d: %+v and %+v", n, first[n], second[n])
		}
	}
	eventually(t, 10*time.Second, func() error {
		for n := range jobs {
			if got := holderOf(t, s, "user_sync", jobs[n].UniqueKey); got != place(first[n].Job) {
				return fmt.Errorf("the record of %d refers to %s", n, got)
			}
		}
		if there := items(t, s); len(there) != len(jobs) {
			return fmt.Errorf("there are %d items of %d jobs", len(there), len(jobs))
		}
		return checkItems(t, s)
	})
}

// TestRecordThatRefersToNothingIsTakenOver covers a record of another program without a readable job_sk.
func TestRecordThatRefersToNothingIsTakenOver(t *testing.T) {
	onServers(t, func(t *testing.T, server *dyntest.Server) {
		s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
		defer s.Close()
		for key, sk := range map[string]types.AttributeValue{"none": nil, "number": numberValue(1)} {
			record := recordKey("user_sync", key)
			if sk != nil {
				record[attrJobSK] = sk
			}
			if err := s.log.table.put(t.Context(), "test", record); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			results, err := s.Apply(ctx, rota.Batch{Commands: []rota.Command{
				&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "user_sync", UniqueKey: key}}},
			}})
			if err != nil || results[0].Err != nil {
				t.Errorf("%s: %v, %+v", key, err, results)
			}
		}
	})
}

// TestKeyOfPrunedJobIsTakenOver covers an execution that was pruned by number, long before its item expires.
func TestKeyOfPrunedJobIsTakenOver(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
	defer s.Close()
	pruned := foreign(time.Now(), "user_sync", stringValue(`{}`))
	pruned[attrEntry], pruned[attrStatus] = numberValue(1), stringValue(statusCompleted)
	pruned.expires(time.Now().Add(20 * 24 * time.Hour))
	putItem(t, s, pruned)
	putRecord(t, s, "user_sync", "u1", pruned.text(attrSK))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	results, err := s.Apply(ctx, rota.Batch{Commands: []rota.Command{
		&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "user_sync", UniqueKey: "u1"}}},
	}})
	if err != nil || results[0].Err != nil || results[0].Reply.(*rota.Enqueued).Jobs[0].Duplicate {
		t.Errorf("%v, %+v", err, results)
	}
}

// TestKeysAreReleasedWhenCallerGivesUp covers keys that were written before a slot that was not tried.
func TestKeysAreReleasedWhenCallerGivesUp(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
	defer s.Close()
	record := newRecord("user_sync", "u1", place(&rota.Job{CreatedAt: time.Now()}))
	p := newProposal(logstore.Entry{})
	p.claims = map[itemKey]keyClaim{keyOf(record): {record: record, item: key(jobPK, record.text(attrJobSK))}}
	must(t, s.log.claimFirst(t.Context(), p))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.log.unclaimSoon(ctx, p)
	if holder := holderOf(t, s, "user_sync", "u1"); holder != "" || items(t, s)[record.text(attrJobSK)] != nil {
		t.Errorf("the key is held by %s", holder)
	}
}
