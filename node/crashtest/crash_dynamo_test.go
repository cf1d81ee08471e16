//go:build unix

package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// failEvery is how many requests of a server to DynamoDB there are for each that fails
// while TestCrashOnDynamoDB runs.
const failEvery = 10

// TestCrashOnDynamoDB runs three servers on one table under load. The test kills, freezes
// and partitions servers, sets their clocks wrong, damages their replicas, and restarts
// DynamoDB, while every tenth request fails. In the end it compares the table with the
// answers of the servers and the ledger of their handlers, and the replicas with each other.
func TestCrashOnDynamoDB(t *testing.T) {
	t.Parallel()
	f := newDynamoCluster(t, dyntest.StartOnDisk(t, dyntest.Dynoxide), 3)
	for _, s := range f.servers {
		s.env = append(s.env, envStaleWorker+"=600ms:ledger:late")
	}
	f.startAll()
	f.declareLimitsAndSchedules()
	f.failRequests(failEvery)
	l := startLoad(f.caller, f.answers, clusterActions(), 6)
	until := crashTime(t)
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		f.injectDynamoFaults(!until.IsZero())
		if t.Failed() {
			break
		}
		f.verifyWhileServersWrite()
	}
	stopped := f.drain(l)
	f.auditAll(stopped)
	f.checkReplicas()
	f.logSummary(!until.IsZero())
	f.logRequests()
}

// injectDynamoFaults causes all kinds of faults in random order.
func (f *testCluster) injectDynamoFaults(long bool) {
	all, some := killPoints(), rand.Perm(len(f.servers))
	stages := []func(){
		func() {
			concurrently(func() { f.freeze(f.servers[some[0]]) }, func() { f.partition(f.servers[some[1]]) })
			time.Sleep(clusterLease) // until both servers are notified of lost leases
		},
		func() { f.killAndRestart(f.randomServer()) },
		func() { f.killAtPoint(f.randomServer(), all[rand.IntN(len(all))]) },
		func() { f.killAtRequest(f.randomServer(), requestPoints[rand.IntN(len(requestPoints))]) },
		func() {
			concurrently(func() { f.restartDynamoDB(0) }, func() { f.killAndRestart(f.randomServer()) })
		},
		func() { f.damageReplica(f.randomServer()) },
		func() {
			for _, s := range f.servers {
				f.setClockOffset(s, randomSkew())
			}
			f.setClockOffset(f.servers[some[2]], []time.Duration{time.Hour, -time.Hour}[rand.IntN(2)])
		},
	}
	if long {
		stages = append(stages,
			func() {
				concurrently(func() { f.freezeAtPoint(f.servers[some[0]], all[rand.IntN(len(all))]) }, func() { f.killAndRestart(f.servers[some[1]]) })
			},
			func() { f.restartDynamoDB(longerThanLease()) },
		)
	}
	f.runStages(stages)
}
