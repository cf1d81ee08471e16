//go:build unix

package main

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// TestKilledAtRequestLosesNothing kills a server at the requests that write an entry. The
// entry is enqueued once by the retry of its caller, and the other server answers meanwhile.
func TestKilledAtRequestLosesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range requestPoints[:3] {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 2)
			f.startAll()
			f.caller.waitUntilIdle()
			killed := f.killOnRequest(f.servers[0], p)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				f.enqueueMany(0)
			}()
			if !killed(waitMax) {
				t.Fatal("the server does not send the request")
			}
			others := f.startWriting(1)
			time.Sleep(2 * time.Second)
			others.stop()
			others.check()
			f.ensureKilled(f.servers[0])
			f.servers[0].startUntilReady()
			<-answered
			f.checkIdleCluster()
		})
	}
}

// enqueueMany enqueues jobs at one server, in an entry that is too long for a slot.
func (f *testCluster) enqueueMany(i int) {
	var marks []string
	var jobs []object
	for range 300 {
		marks = append(marks, f.answers.newMark())
		jobs = append(jobs, object{"type": "ledger", "params": object{"mark": marks[len(marks)-1]}})
	}
	var batch api.Batch
	a, err := f.callerOf(i).write(f.Context(), http.MethodPost, "/jobs/batch", object{"jobs": jobs})
	if err == nil {
		err = a.decode(&batch)
	}
	if err != nil {
		f.Error(err)
	}
	for n, job := range batch.Items {
		f.answers.acknowledge(marks[n], job)
	}
}

// checkIdleCluster waits until all jobs have ended, stops the servers, and compares the
// table with the ledger and the replicas.
func (f *testCluster) checkIdleCluster() {
	f.Helper()
	f.caller.waitUntilIdle()
	f.stopAll()
	f.checkConsistency()
	f.checkReplicas()
}

// TestKilledBeforeForeignItemIsMarked kills the leader when it has enqueued the item of
// another program and has not marked the item. The next leader does not enqueue it again,
// and marks it.
func TestKilledBeforeForeignItemIsMarked(t *testing.T) {
	t.Parallel()
	f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 2)
	first := f.servers[0]
	first.startUntilReady() // it leads
	f.servers[1].startUntilReady()
	id, mark := rota.NewID(), f.answers.newMark()
	place := "scheduled#" + time.Now().UTC().Format(time.RFC3339) + "#" + id.String()
	killed := f.killOnRequest(first, requestPoint{"before the mark", place, true, false})
	f.dynamo().put(f, "job", place, map[string]string{"job_type": "ledger", "payload": `{"mark": "` + mark + `"}`, "status": "pending"})
	if !killed(waitMax) {
		t.Fatal("the leader does not mark the item")
	}
	f.ensureKilled(first)
	if status := f.dynamo().get(f, "job", place)["status"]; status != "pending" {
		t.Errorf("the item was marked as %s", status)
	}
	f.answers.acknowledge(mark, f.waitForJob(id)) // the job has the id of its item
	first.startUntilReady()
	f.waitUntil("the item is marked", func() bool { // it has moved if the leader had begun to run its job
		all := f.dynamo().itemsOf(f, "job", id.String())
		return len(all) == 1 && all[0]["status"] == "completed"
	})
	f.checkIdleCluster()
}

// waitForJob waits until a job exists.
func (f *testCluster) waitForJob(id rota.ID) (job api.Job) {
	f.Helper()
	f.waitUntil("the job exists", func() bool { return f.caller.read(f.Context(), "/jobs/"+id.String(), &job) == nil })
	return job
}

// TestLeaderKilledWhileItWritesSnapshot kills the leader at a part of a snapshot. The next
// leader writes another one, and a server without a replica fills its own from that.
func TestLeaderKilledWhileItWritesSnapshot(t *testing.T) {
	t.Parallel()
	f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 2)
	first, second := f.servers[0], f.servers[1]
	first.startUntilReady()
	f.enqueueMany(0)
	f.caller.waitUntilIdle()
	first.incarnation().stop()
	f.requestSnapshot()
	killed := f.killOnRequest(first, requestPoint{"while a snapshot is written", "rota#snapshot#", true, true})
	first.startUntilReady() // it leads
	second.startUntilReady()
	if !killed(waitMax) {
		t.Fatal("the leader writes no snapshot")
	}
	f.ensureKilled(first)
	if meta := f.dynamo().get(f, "rota#meta", "-"); meta["begin"] != "1" || meta["writing"] == "" {
		t.Errorf("the leader was killed after the snapshot: %v", meta)
	}
	f.enqueueMany(1)
	f.waitForSnapshot()
	f.removeOldSlots()
	f.damageReplica(first)
	f.enqueueMany(0)
	f.checkIdleCluster()
}

// TestServerThatSleptPastRemovalOfSlots freezes a server for more than the minute in which it
// need not ask where the log begins. Meanwhile a snapshot replaces the slots that it would
// read next, and they are removed.
func TestServerThatSleptPastRemovalOfSlots(t *testing.T) {
	if crashTime(t).IsZero() {
		t.Skipf("a server sleeps for more than a minute in long tests only; set %s", envCrashTime)
	}
	t.Parallel()
	f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 2)
	first, second := f.servers[0], f.servers[1]
	f.startAll()
	f.enqueueMany(0)
	f.caller.waitUntilIdle()
	record := f.faults.begin("freeze", first)
	first.incarnation().signal(syscall.SIGSTOP)
	second.incarnation().stop()
	f.requestSnapshot()
	second.startUntilReady()
	f.enqueueMany(1)
	f.waitForSnapshot()
	f.removeOldSlots()
	time.Sleep(time.Until(record.from.Add(65 * time.Second)))
	first.incarnation().signal(syscall.SIGCONT)
	f.faults.end(record)
	f.enqueueMany(0)
	f.checkIdleCluster()
}

// requestSnapshot has the next leader write a snapshot, although the log is short: it
// changes how long the log was at the last one. No server may run that knows the old value.
func (f *testCluster) requestSnapshot() {
	f.Helper()
	f.dynamo().set(f, "rota#meta", "-", "size", -1<<30)
}

// waitForSnapshot waits until the log begins after a snapshot.
func (f *testCluster) waitForSnapshot() {
	f.Helper()
	f.waitUntil("a snapshot is written", func() bool {
		meta := f.dynamo().get(f, "rota#meta", "-")
		return meta["begin"] != "1" && meta["writing"] == ""
	})
}

// removeOldSlots removes the slots before the log begins, as DynamoDB does after their TTL.
func (f *testCluster) removeOldSlots() {
	f.Helper()
	var begin int
	_, err := fmt.Sscan(f.dynamo().get(f, "rota#meta", "-")["begin"], &begin)
	must(f, err)
	for slot := range begin {
		f.dynamo().remove(f, fmt.Sprintf("rota#log#%d", slot%16), fmt.Sprintf("%020d", slot))
	}
	f.Logf("%d slots were removed", begin-1)
}
