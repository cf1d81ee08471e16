//go:build unix

package main

import (
	"context"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest"
)

// checkReplicas compares the replicas of all servers of a cluster on DynamoDB with one that
// is built from the table alone, after the servers have ended.
func (f *testCluster) checkReplicas() {
	f.Helper()
	want := f.dump(f.openStore())
	for _, s := range f.servers {
		store, err := f.dynamo().openIn(f, s.data)
		must(f, err)
		if got := f.dump(store); got != want {
			f.Errorf("the replica of %s differs from the table:\n%s", s.name, firstDifference(want, got))
		}
	}
	f.Logf("%d equal replicas of %d lines", len(f.servers)+1, strings.Count(want, "\n"))
}

// dump returns everything in a store, and closes it.
func (f *testCluster) dump(store rota.Store) string {
	f.Helper()
	defer store.Close()
	text, err := storetest.Dump(context.Background(), store)
	must(f, err)
	return text
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "- " + w[i] + "\n+ " + g[i]
		}
	}
	return "one of them ends before the other"
}
