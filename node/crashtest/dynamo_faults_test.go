//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/rotajobs/rota/store/dynamo"
)

// failRequests has every n-th request of each server fail.
func (f *testCluster) failRequests(n int) {
	f.dynamo().every = n
	for _, s := range f.servers {
		s.proxy.Resume()
	}
}

// restartDynamoDB kills the server of the table and starts it again after a downtime.
func (f *testCluster) restartDynamoDB(downtime time.Duration) {
	record := f.faults.begin("restart", nil)
	f.dynamo().server.Kill()
	time.Sleep(downtime)
	f.dynamo().server.Restart(f)
	f.faults.end(record)
}

// damageReplica kills a server, deletes the file of its replica or cuts it, and starts the
// server again.
func (f *testCluster) damageReplica(s *testServer) {
	f.Helper()
	f.ensureKilled(s)
	record := f.faults.begin(faultDamagedReplica, s)
	defer f.faults.end(record)
	path := filepath.Join(s.data, dynamo.ReplicaName)
	info, err := os.Stat(path)
	must(f, err)
	if rand.IntN(2) == 0 {
		record.detail = "deleted"
		must(f, os.Remove(path))
	} else {
		record.detail = "cut"
		must(f, os.Truncate(path, rand.Int64N(info.Size())))
	}
	s.startUntilReady()
}

const faultDamagedReplica = "damaged replica"

// damagedReplica reports whether a server started with a damaged replica at a time.
func (f *faults) damagedReplica(s *testServer, at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(record *faultRecord) bool {
		return record.kind == faultDamagedReplica && record.server == s && record.overlaps(at, at.Add(time.Second))
	})
}

// requestPoint is a request to DynamoDB at which the test kills the server that sends it.
type requestPoint struct {
	name     string
	key      string // part of the body of the request
	writes   bool   // the request is one that writes
	answered bool   // DynamoDB has executed the request, and the server has no answer; false: before that
}

// requestPoints are the points that a server under load reaches by itself.
var requestPoints = []requestPoint{
	{"before a slot is taken", "rota#log#", true, false},
	{"between a slot and the replica", "rota#log#", true, true},
	{"between the body of an entry and its slot", "rota#chunk#", true, true},
	{"before a heartbeat of the membership", "rota#node#", true, false},
}

func (p requestPoint) matches(operation string, body []byte, answered bool) bool {
	writes := map[string]bool{"PutItem": true, "UpdateItem": true, "DeleteItem": true, "TransactWriteItems": true, "BatchWriteItem": true}
	return answered == p.answered && writes[operation] == p.writes && bytes.Contains(body, []byte(p.key))
}

// killOnRequest kills a server at its next request of a kind. The function it returns
// waits for that for some time, ends the watch, and reports whether the server was killed.
func (f *testCluster) killOnRequest(s *testServer, p requestPoint) (wait func(time.Duration) bool) {
	reached := make(chan struct{})
	once := sync.Once{}
	s.dynamoProxy().Watch(func(operation string, body []byte, answered bool) (killed bool) {
		if p.matches(operation, body, answered) {
			once.Do(func() {
				killed = true
				s.incarnation().signal(syscall.SIGKILL)
				s.incarnation().endsWithin(waitMax)
				close(reached)
			})
		}
		return killed
	})
	return func(d time.Duration) bool {
		defer s.dynamoProxy().Watch(nil)
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-reached:
			return true
		case <-timer.C:
			return false
		}
	}
}

// killAtRequest kills a server at a request, or after a while if it sends none, and
// starts it again.
func (f *testCluster) killAtRequest(s *testServer, p requestPoint) {
	record := f.faults.begin("kill at a request", s)
	record.detail = p.name
	if !f.killOnRequest(s, p)(2 * time.Second) {
		record.detail += ", not reached"
	}
	f.ensureKilled(s)
	f.faults.end(record)
	s.startUntilReady()
}

// logRequests logs the requests to DynamoDB, and those that failed.
func (f *testCluster) logRequests() {
	requests, failed := map[string]int{}, map[string]int{}
	for _, s := range f.servers {
		counts := s.dynamoProxy().Counts()
		addAll(requests, counts.Requests)
		addAll(failed, counts.Faults)
	}
	f.Logf("requests to DynamoDB: %v; faults: %v", requests, failed)
}

func addAll(to, from map[string]int) {
	for k, n := range from {
		to[k] += n
	}
}
