package dynamo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

// byHand has the leader write no snapshots by itself. The tests take its steps.
var byHand = snapshotLimits{bytes: 1 << 40, slots: 1 << 40, every: time.Hour}

// snapshotTable is a table that several processes have open.
type snapshotTable struct {
	testing.TB
	url    string
	client *dynamodb.Client // which no proxy disturbs
	name   string
}

func newSnapshotTable(t testing.TB, server *dyntest.Server) *snapshotTable {
	name := server.TableName(t)
	return &snapshotTable{t, server.URL(name) + testParameters, server.Client(t), name}
}

func onTables(t *testing.T, test func(*snapshotTable)) {
	onServers(t, func(t *testing.T, server *dyntest.Server) { test(newSnapshotTable(t, server)) })
}

// snapshotProcess is a process in a directory of its own.
type snapshotProcess struct {
	*Store
	t   testing.TB
	dir string
}

func (table *snapshotTable) open(limits snapshotLimits) *snapshotProcess {
	table.Helper()
	return table.openIn(sqlitetest.MemoryDir(table), limits)
}

func (table *snapshotTable) openIn(dir string, limits snapshotLimits) *snapshotProcess {
	table.Helper()
	return table.openWith(Config{Dir: dir, snapshots: limits, Logger: slog.New(slog.DiscardHandler)})
}

func (table *snapshotTable) openWith(config Config) *snapshotProcess {
	table.Helper()
	s, err := Open(context.Background(), table.url, config)
	must(table, err)
	table.Cleanup(func() { _ = s.Close() })
	return &snapshotProcess{s, table, config.Dir}
}

// write appends entries, with so many random bytes each.
func (p *snapshotProcess) write(entries, size int) {
	p.t.Helper()
	for range entries {
		random := make([]byte, size/2)
		_, _ = rand.Read(random)
		payload := fmt.Appendf(nil, `{"random": "%x"}`, random)
		_, err := rota.Do[*rota.Enqueued](p.t.Context(), p.Store, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "mail", Params: payload}}})
		must(p.t, err)
	}
}

func (p *snapshotProcess) meta() meta {
	p.t.Helper()
	m, err := p.log.readMeta(p.t.Context())
	must(p.t, err)
	return m
}

// steps returns a snapshotter that writes a snapshot at each step.
func (p *snapshotProcess) steps() *snapshotter {
	return &snapshotter{log: p.log, limits: snapshotLimits{slots: 1, bytes: 1}}
}

// lead has the process believe that it leads.
func (p *snapshotProcess) lead() {
	until := time.Now().Add(leadUse)
	p.log.lead.until.Store(&until)
}

// snapshot writes a snapshot as the leader.
func (p *snapshotProcess) snapshot() meta {
	p.t.Helper()
	p.lead()
	must(p.t, p.steps().step(p.t.Context()))
	m := p.meta()
	if m.begin != p.Applied().Index+1 || m.snapshot == "" || m.writing != "" {
		p.t.Fatalf("after a snapshot meta is %+v, and the replica is at %d", m, p.Applied().Index)
	}
	return m
}

// endBackground ends the background work, so that the process does only what the test asks for.
func (p *snapshotProcess) endBackground() {
	p.stop()
	p.work.Wait()
}

// sleep has the process believe that it has heard nothing for an hour.
func (p *snapshotProcess) sleep() {
	p.t.Helper()
	must(p.t, p.log.acquire(p.t.Context()))
	p.log.currentAt, p.log.keptAt = time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)
	p.log.release()
}

func (p *snapshotProcess) size() int64 {
	p.t.Helper()
	must(p.t, p.log.acquire(p.t.Context()))
	defer p.log.release()
	return p.log.size
}

func wantEqual(t testing.TB, processes ...*snapshotProcess) {
	t.Helper()
	first := ""
	for i, p := range processes {
		text, err := storetest.Dump(t.Context(), p.Store)
		must(t, err)
		if i == 0 {
			first = text
		}
		if text != first {
			t.Errorf("replica %d differs", i)
		}
		if a, b := processes[0].Applied(), p.Applied(); a != b {
			t.Errorf("replica %d is at %+v, and the first at %+v", i, b, a)
		}
		if a, b := processes[0].size(), p.size(); a != b {
			t.Errorf("process %d counts %d bytes, and the first %d", i, b, a)
		}
	}
}

// items returns all items of the table whose PK has a prefix.
func (table *snapshotTable) items(prefix string) (all []item) {
	table.Helper()
	pages := dynamodb.NewScanPaginator(table.client, &dynamodb.ScanInput{TableName: &table.name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(table.Context())
		for range 3 { // the client sends each request once
			if err != nil {
				page, err = pages.NextPage(table.Context())
			}
		}
		must(table, err)
		for _, i := range page.Items {
			if strings.HasPrefix(item(i).text(attrPK), prefix) {
				all = append(all, i)
			}
		}
	}
	return all
}

// expire deletes what has a TTL, as DynamoDB does some days later.
func (table *snapshotTable) expire() (deleted int) {
	table.Helper()
	for _, i := range table.items("rota#") {
		ttl := time.Unix(i.number(attrTTL), 0)
		if i[attrTTL] == nil {
			continue
		}
		if left := time.Until(ttl); left < keptFor-time.Minute || left > keptFor+time.Minute {
			table.Errorf("the item %s %s is kept for %s", i.text(attrPK), i.text(attrSK), left)
		}
		table.delete(i)
		deleted++
	}
	return deleted
}

func (table *snapshotTable) delete(i item) {
	table.Helper()
	_, err := table.client.DeleteItem(table.Context(), &dynamodb.DeleteItemInput{TableName: &table.name, Key: i.key()})
	must(table, err)
}

// checkFormer checks that the items of all snapshots but the last one have a TTL.
func (table *snapshotTable) checkFormer(last meta) {
	table.Helper()
	for _, i := range table.items("rota#snapshot#") {
		if isLast := strings.HasPrefix(i.text(attrPK), "rota#snapshot#"+last.snapshot); isLast != (i[attrTTL] == nil) {
			table.Errorf("the item %s %s has the TTL %d; the last snapshot is %s", i.text(attrPK), i.text(attrSK), i.number(attrTTL), last.snapshot)
		}
	}
}

// partsOf returns the items of a snapshot.
func (table *snapshotTable) partsOf(name string) []item { return table.items("rota#snapshot#" + name) }

func TestSnapshotIsWrittenAtThreshold(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a := table.open(byHand)
		step := func(limits snapshotLimits) meta {
			t.Helper()
			a.lead()
			y := &snapshotter{log: a.log, limits: limits}
			must(t, y.step(t.Context()))
			if !y.settled {
				t.Error("the step has left work")
			}
			must(t, y.step(t.Context())) // nothing is left
			return a.meta()
		}
		bytes, slots := snapshotLimits{bytes: 250_000, slots: 1000}, snapshotLimits{bytes: 1 << 40, slots: 10}
		a.write(2, 100_000)
		if m := step(bytes); m.snapshot != "" || m.begin != 1 {
			t.Fatalf("after 200 kB meta is %+v", m)
		}
		a.write(1, 100_000)
		first := step(bytes)
		if first.snapshot == "" || first.begin != 4 || first.size < 300_000 || first.size > 310_000 {
			t.Fatalf("after 300 kB meta is %+v", first)
		}
		a.write(9, 100)
		if m := step(slots); m.begin != 4 {
			t.Fatalf("after 9 slots meta is %+v", m)
		}
		a.write(1, 100)
		if m := step(slots); m.begin != 14 || m.size < first.size+1000 {
			t.Fatalf("after 10 slots meta is %+v", m)
		}
		must(t, a.Close())
		b := table.openIn(a.dir, byHand) // counts on
		b.write(1, 100)
		wantEqual(t, b, table.open(byHand))
	})
}

// TestSnapshotIsWrittenInBackground has the leader do all by itself.
func TestSnapshotIsWrittenInBackground(t *testing.T) {
	table := newSnapshotTable(t, dyntest.Shared(t, dyntest.Dynoxide))
	a := table.open(snapshotLimits{bytes: 300_000, slots: 1000, every: 10 * time.Millisecond})
	a.write(8, 100_000)
	deadline := time.Now().Add(20 * time.Second)
	for m := a.meta(); m.begin < 2 || len(m.former) > 0; m = a.meta() {
		if time.Now().After(deadline) {
			t.Fatalf("no snapshot was written: %+v", m)
		}
		time.Sleep(10 * time.Millisecond)
	}
	wantEqual(t, a, table.open(byHand))
}

func TestSnapshotStartsNewProcess(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a := table.open(byHand)
		a.write(3, 250<<10)
		a.write(5, 100)
		m := a.snapshot()
		if parts := table.partsOf(m.snapshot); len(parts) < 3 {
			t.Errorf("the snapshot has %d items", len(parts))
		}
		a.write(2, 10<<10)
		if deleted := table.expire(); deleted < 8+3 {
			t.Errorf("%d items have a TTL, want the slots and their chunks", deleted)
		}
		wantEqual(t, a, table.open(byHand))
		for _, i := range table.items("rota#chunk#") { // those of the last 2 slots
			if i[attrTTL] != nil {
				t.Error("a chunk of a slot that is kept has a TTL")
			}
		}
		second := a.snapshot()
		b := table.open(byHand)
		a.write(1, 100)
		must(t, b.log.CatchUp(t.Context()))
		wantEqual(t, a, b)
		if second.size <= m.size {
			t.Errorf("the size of the log went from %d to %d", m.size, second.size)
		}
		table.expire()
		if left := table.partsOf(m.snapshot); len(left) > 0 || len(a.meta().former) > 0 {
			t.Errorf("of the former snapshot %d items have no TTL; meta is %+v", len(left), a.meta())
		}
		checkNoScratch(t, a)
		checkNoScratch(t, b)
	})
}

func checkNoScratch(t testing.TB, p *snapshotProcess) {
	t.Helper()
	for _, suffix := range []string{copySuffix, fillSuffix} {
		if left, _ := filepath.Glob(filepath.Join(p.dir, ReplicaName) + suffix + "*"); len(left) > 0 {
			t.Errorf("left in the data directory: %v", left)
		}
	}
}

// TestSnapshotFillsSleeper has a process miss slots that are removed. It must not take one of them.
func TestSnapshotFillsSleeper(t *testing.T) {
	wakes := map[string]func(*snapshotProcess){
		"write": func(p *snapshotProcess) { p.write(1, 100) },
		"read":  func(p *snapshotProcess) { must(p.t, p.log.CatchUp(p.t.Context())) },
		"asleep before the request": func(p *snapshotProcess) { // after the check at the beginning of Commit
			must(p.t, p.log.acquire(p.t.Context()))
			defer p.log.release()
			e := logstore.Entry{Batch: rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "late"}}}}}}
			_, err := p.log.append(p.t.Context(), newProposal(e))
			must(p.t, err)
		},
		"asleep while reading": func(p *snapshotProcess) { // after the check at the beginning of CatchUp
			must(p.t, p.log.acquire(p.t.Context()))
			defer p.log.release()
			must(p.t, p.log.readSlots(p.t.Context()))
		},
	}
	for name, wake := range wakes {
		t.Run(name, func(t *testing.T) {
			onTables(t, func(table *snapshotTable) {
				table.TB = t
				a := table.open(byHand)
				a.write(2, 100)
				sleeper := table.open(byHand)
				sleeper.endBackground()
				a.write(5, 100)
				a.write(2, 100<<10)
				a.snapshot()
				a.write(2, 100)
				// DynamoDB removes in any order: a sleeper finds some slots, and others whose chunks are gone.
				for _, i := range table.items("rota#") {
					if i[attrTTL] != nil && i.text(attrSK) != slotKey(sleeper.Applied().Index+1).text(attrSK) {
						table.delete(i)
					}
				}
				before := a.Applied().Index
				if at := sleeper.Applied().Index; at != 2 {
					t.Fatalf("the sleeper is at slot %d", at)
				}
				sleeper.sleep()
				woke := time.Now()
				wake(sleeper)
				if took := time.Since(woke); took > requestTimeout*3/4 {
					t.Errorf("the sleeper took %s; it must not retry to take a slot that was removed", took)
				}
				if at := sleeper.Applied().Index; at < before {
					t.Errorf("the sleeper is at slot %d, and the log at %d", at, before)
				}
				must(t, a.log.CatchUp(t.Context()))
				wantEqual(t, a, sleeper)
				sleeper.write(1, 100)
				must(t, a.log.CatchUp(t.Context()))
				wantEqual(t, a, sleeper)
			})
		})
	}
}

// TestSnapshotOfFailedLeader has a leader end at many places. The next one writes a snapshot, and gives a TTL to the
// parts of the other.
func TestSnapshotOfFailedLeader(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	if server.Kind() == dyntest.DynamoDB {
		t.Skip("DynamoDB refuses requests through a proxy")
	}
	table, proxy := newSnapshotTable(t, server), server.Proxy(t)
	next := table.open(byHand)
	table.url = proxy.URL(table.name) + testParameters
	failing := table.open(byHand)
	failing.endBackground()
	next.write(3, 250<<10)
	abandoned, last := 0, meta{}
	for _, requests := range []int{1, 3, 4, 5, 7, 8, 10} {
		next.write(1, 100)
		must(t, failing.log.CatchUp(t.Context()))
		proxy.ResetCounts()
		proxy.Delay(20 * time.Millisecond)
		failing.lead()
		endDuring(t.Context(), proxy, requests, func(ctx context.Context) { _ = failing.steps().step(ctx) })
		proxy.Heal()
		failing.log.lead.until.Store(nil)
		if next.meta().writing != "" {
			abandoned++
		}
		next.write(1, 100)
		if last = next.snapshot(); len(last.former) > 0 {
			t.Errorf("after %d requests meta is %+v", requests, last)
		}
	}
	table.checkFormer(last)
	if abandoned < 3 {
		t.Errorf("%d leaders have ended while they wrote a snapshot", abandoned)
	}
	table.expire()
	wantEqual(t, next, table.open(byHand))
}

// TestSnapshotFillsReaderOfRemovedChunks has DynamoDB remove the chunks of a slot before the slot.
func TestSnapshotFillsReaderOfRemovedChunks(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a, b := table.open(byHand), table.open(byHand)
		b.endBackground()
		a.write(2, 100<<10)
		a.snapshot()
		chunks := table.items("rota#chunk#")
		for _, i := range chunks {
			table.delete(i)
		}
		must(t, b.log.CatchUp(t.Context())) // it has read meta a moment ago, as far as it knows
		wantEqual(t, a, b)
		a.write(1, 100<<10)
		for _, i := range table.items("rota#chunk#") {
			table.delete(i)
		}
		if err := b.log.CatchUp(t.Context()); rota.CodeOf(err) != rota.Internal || !strings.Contains(err.Error(), "restore the table") {
			t.Errorf("a chunk of a slot that is kept was removed: %v", err)
		}
	})
}

// endDuring ends the context of a call when it has sent so many requests.
func endDuring(ctx context.Context, proxy *dyntest.Proxy, requests int, call func(context.Context)) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		call(ctx)
	}()
	for {
		sent := 0
		for _, n := range proxy.Counts().Requests {
			sent += n
		}
		if sent >= requests {
			end()
		}
		select {
		case <-returned:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// TestSnapshotDespiteFaults loses answers and refuses requests.
func TestSnapshotDespiteFaults(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	if server.Kind() == dyntest.DynamoDB {
		t.Skip("DynamoDB refuses requests through a proxy")
	}
	table, proxy := newSnapshotTable(t, server), server.Proxy(t)
	table.url = proxy.URL(table.name) + testParameters
	a := table.open(byHand)
	a.write(3, 250<<10)
	a.lead()
	proxy.Deny("PutItem")
	if err := a.steps().step(t.Context()); err == nil || !strings.Contains(err.Error(), "dynamodb:PutItem") {
		t.Errorf("without the right to put: %v", err)
	}
	proxy.Heal()
	if m := a.meta(); m.begin != 1 || m.snapshot != "" || m.writing != "" || len(m.former) != 1 {
		t.Errorf("meta is %+v after a snapshot that was not written", m)
	}
	for range 3 {
		proxy.Every(3)
		a.write(1, 100)
		last := a.snapshot()
		b := table.open(byHand)
		proxy.Heal()
		table.checkFormer(last)
		wantEqual(t, a, b)
		must(t, b.Close())
	}
}

func TestSnapshotDamageIsRefused(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a := table.open(byHand)
		a.write(3, 250<<10)
		m := a.snapshot()
		intact := table.partsOf(m.snapshot)
		put := func(i item) {
			_, err := table.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table.name, Item: i})
			must(t, err)
		}
		changed := func(change func(item)) func(item) {
			return func(i item) {
				copied := item{}
				for name, value := range i {
					copied[name] = value
				}
				change(copied)
				put(copied)
			}
		}
		for name, c := range map[string]struct {
			first  bool // the first item, or a part
			damage func(item)
			want   string
		}{
			"a bit of a part": {false, changed(func(i item) {
				data := bytes.Clone(i.bytes(attrData))
				data[len(data)/2] ^= 4
				i[attrData] = bytesValue(data)
			}), "is damaged"},
			"a part is cut":       {false, changed(func(i item) { i[attrData] = bytesValue(i.bytes(attrData)[:1000]) }), "is damaged"},
			"a part is missing":   {false, table.delete, "is missing"},
			"no first item":       {true, table.delete, "the first item of the snapshot"},
			"another digest":      {true, changed(func(i item) { i[attrDigest] = bytesValue(make([]byte, 32)) }), "its digest differs"},
			"one of another log":  {true, changed(func(i item) { i[attrLog] = stringValue("other") }), "of the log other"},
			"one of another slot": {true, changed(func(i item) { i[attrSlot] = numberValue(1) }), "is at slot 1"},
		} {
			for _, i := range intact {
				put(i)
			}
			for _, i := range intact {
				if (i[attrParts] != nil) == c.first {
					c.damage(i)
					break
				}
			}
			dir := sqlitetest.MemoryDir(t)
			_, err := Open(t.Context(), table.url, Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
			if err == nil || rota.CodeOf(err) != rota.Internal || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), m.snapshot) || !strings.Contains(err.Error(), "restore") {
				t.Errorf("%s: %v", name, err)
			}
			for _, i := range intact {
				put(i)
			}
			wantEqual(t, a, table.openIn(dir, byHand)) // the directory is of use
		}
		a.write(1, 100)
	})
}

// TestSnapshotReplacedWhileRead has the snapshot disappear after meta was read, because a leader has written the next one.
func TestSnapshotReplacedWhileRead(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a, b := table.open(byHand), table.open(byHand)
		b.endBackground()
		a.write(2, 250<<10)
		first := a.snapshot()
		a.write(1, 100)
		a.snapshot()
		table.expire()
		must(t, b.log.acquire(t.Context()))
		err := b.log.fillFrom(t.Context(), first) // as if it had read meta before
		if rota.CodeOf(err) != rota.Internal {
			t.Errorf("filled from a snapshot that was removed: %v", err)
		}
		err = b.log.fill(t.Context())
		b.log.release()
		must(t, err)
		wantEqual(t, a, b)
	})
}

// TestSnapshotOutlivesCaller ends the context of a caller while the replica is filled. The background work does it then.
func TestSnapshotOutlivesCaller(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	if server.Kind() == dyntest.DynamoDB {
		t.Skip("DynamoDB refuses requests through a proxy")
	}
	table, proxy := newSnapshotTable(t, server), server.Proxy(t)
	a := table.open(byHand)
	table.url = proxy.URL(table.name) + testParameters
	sleeper := table.open(byHand)
	sleeper.endBackground()
	a.write(3, 250<<10)
	a.snapshot()
	table.expire()
	proxy.Delay(100 * time.Millisecond)
	sleeper.sleep()
	ctx, end := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer end()
	if err := sleeper.log.CatchUp(ctx); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("filled the replica in too short a time: %v", err)
	}
	proxy.Heal()
	soon, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if err := sleeper.log.waitToFollow(soon, time.Hour); err != nil {
		t.Errorf("the background work is not asked to catch up: %v", err)
	}
	must(t, sleeper.log.CatchUp(t.Context()))
	wantEqual(t, a, sleeper)
}

// TestSnapshotWithTwoLeaders has two processes write snapshots at the same time.
func TestSnapshotWithTwoLeaders(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a, b := table.open(byHand), table.open(byHand)
		ctx := t.Context()
		for round := range 3 {
			a.write(3, 100<<10)
			must(t, b.log.CatchUp(ctx))
			done := make(chan error, 2)
			for _, p := range []*snapshotProcess{a, b} {
				p.lead()
				go func() { done <- p.steps().step(ctx) }()
			}
			for range 2 {
				if err := <-done; err != nil && !errors.Is(err, errOtherLeader) {
					t.Fatal(err)
				}
			}
			m := a.meta()
			if m.begin > a.Applied().Index+1 {
				t.Fatalf("round %d: meta is %+v, and the log is at %d", round, m, a.Applied().Index)
			}
		}
		a.write(1, 100)
		last := a.snapshot()
		table.checkFormer(last)
		table.expire()
		wantEqual(t, a, table.open(byHand))
	})
}

// TestSnapshotOfLeaderThatSleptGetsTTL has a leader go on with its parts after another one has abandoned its snapshot.
func TestSnapshotOfLeaderThatSleptGetsTTL(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a, b := table.open(byHand), table.open(byHand)
		a.write(3, 100)
		ctx, s := t.Context(), &snapshot{name: "of-a", log: a.log.id, index: 3}
		must(t, a.log.startSnapshot(ctx, a.meta(), s.name))
		b.write(3, 100)
		b.snapshot()
		i := partKey(s.name, 7)
		i[attrData] = bytesValue([]byte("late"))
		must(t, a.log.table.put(ctx, "write snapshot", i))
		must(t, a.log.discardSnapshot(ctx, s.name))
		must(t, a.log.discardSnapshot(ctx, s.name)) // as if the answer had been lost
		b.write(1, 100)
		last := b.snapshot()
		must(t, a.log.discardSnapshot(ctx, last.snapshot)) // it is finished
		if now := a.meta(); len(now.former) > 0 || now.snapshot != last.snapshot {
			t.Errorf("meta is %+v", now)
		}
		table.checkFormer(last)
	})
}

// TestSnapshotOfStaleLeaderIsRefused has a leader finish after others have gone on.
func TestSnapshotOfStaleLeaderIsRefused(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a, b := table.open(byHand), table.open(byHand)
		a.write(3, 100)
		stale, ctx := a.meta(), t.Context()
		s := &snapshot{name: "of-a", log: a.log.id, index: 3}
		must(t, a.log.startSnapshot(ctx, stale, "of-a"))
		must(t, a.log.startSnapshot(ctx, stale, "of-a")) // as if the answer had been lost
		must(t, b.log.abandonSnapshot(ctx, "of-a"))
		if err := a.log.finishSnapshot(ctx, stale, s, 10); !errors.Is(err, errOtherLeader) {
			t.Errorf("finish after its parts may have got a TTL: %v", err)
		}
		b.write(3, 100)
		m := b.snapshot()
		for name, err := range map[string]error{
			"finish":       a.log.finishSnapshot(ctx, stale, s, 10),
			"start":        a.log.startSnapshot(ctx, stale, "of-a"),
			"finish again": a.log.finishSnapshot(ctx, m, s, 10),
		} {
			if !errors.Is(err, errOtherLeader) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now := b.meta(); now.begin != m.begin || now.snapshot != m.snapshot || now.size != m.size {
			t.Errorf("meta was %+v and is %+v", m, now)
		}
	})
}

// TestSnapshotExpiryResumes goes on after a crash between a TTL and the mark of the work.
func TestSnapshotExpiryResumes(t *testing.T) {
	onTables(t, func(table *snapshotTable) {
		a := table.open(byHand)
		a.write(5, 100)
		a.write(1, 20<<10)
		a.write(110, 100)
		a.snapshot()
		expired := len(table.items("rota#log#"))
		// A crash between the TTL and the mark, days later: some slots are gone.
		_, err := table.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table.name, Item: item{
			attrPK: stringValue("rota#meta"), attrSK: stringValue("expired"), attrSlot: numberValue(3),
		}})
		must(t, err)
		for index := range uint64(5) {
			table.delete(slotKey(index + 1))
		}
		for _, i := range table.items("rota#chunk#") {
			table.delete(i)
		}
		_, err = table.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &table.name, Key: slotKey(112), UpdateExpression: aws.String("REMOVE #ttl"), ExpressionAttributeNames: map[string]string{"#ttl": attrTTL}})
		must(t, err)
		y := &snapshotter{log: a.log, limits: byHand}
		a.lead()
		must(t, y.step(t.Context()))
		if !y.settled {
			t.Error("the work is not complete")
		}
		slots := table.items("rota#log#")
		if chunks := table.items("rota#chunk#"); len(slots) != expired-5 || len(chunks) > 0 {
			t.Errorf("%d slots and %d chunks, want %d and none: removed ones must not be created again", len(slots), len(chunks), expired-5)
		}
		for _, i := range slots {
			if i[attrTTL] == nil {
				t.Errorf("the slot %s has no TTL", i.text(attrSK))
			}
		}
		mark, err := a.log.table.get(t.Context(), "read", expiredKey())
		must(t, err)
		if uint64(mark.number(attrSlot)) != a.meta().begin {
			t.Errorf("the mark is %d, want %d", mark.number(attrSlot), a.meta().begin)
		}
	})
}

func TestReplicaIsFilledAgain(t *testing.T) {
	table := newSnapshotTable(t, dyntest.Shared(t, dyntest.Dynoxide))
	a := table.open(byHand)
	a.write(20, 20<<10)
	b := table.open(byHand)
	must(t, b.Close())
	a.snapshot()
	table.expire()
	a.write(3, 100)
	path := filepath.Join(b.dir, ReplicaName)
	content, err := os.ReadFile(path)
	must(t, err)
	write := func(content []byte) { must(t, os.WriteFile(path, content, 0o600)) }
	harmless := map[string]bool{"deleted": true, "empty": true, "with a -wal of garbage": true, "with copies of a killed process": true}
	for name, damage := range map[string]func(){
		"deleted":       func() { must(t, os.Remove(path)) },
		"cut to a half": func() { write(content[:len(content)/2]) },
		"cut in a page": func() { write(content[:len(content)-1000]) },
		"empty":         func() { write(nil) },
		"text":          func() { write(bytes.Repeat([]byte("no database\n"), 1000)) },
		"garbage": func() {
			changed := bytes.Clone(content)
			_, _ = rand.Read(changed[4096*20 : 4096*40])
			write(changed)
		},
		"garbage in the first page": func() {
			changed := bytes.Clone(content)
			_, _ = rand.Read(changed[100:4000])
			write(changed)
		},
		"not closed, without -wal": func() {
			write(content)
			must(t, os.WriteFile(path+openSuffix, nil, 0o600))
		},
		"with a -wal of garbage": func() {
			write(content)
			must(t, os.WriteFile(path+"-wal", bytes.Repeat([]byte{7}, 10_000), 0o600))
		},
		"with copies of a killed process": func() {
			for _, suffix := range []string{copySuffix, copySuffix + ".123.part", fillSuffix, fillSuffix + "-wal"} {
				must(t, os.WriteFile(path+suffix, []byte("x"), 0o600))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			table.TB = t
			damage()
			log := &bytes.Buffer{}
			again := table.openWith(Config{Dir: b.dir, snapshots: byHand, Logger: slog.New(slog.NewTextHandler(log, nil))})
			if reported := strings.Contains(log.String(), "the replica is damaged"); reported == harmless[name] {
				t.Errorf("the log says:\n%s", log)
			}
			wantEqual(t, a, again)
			checkNoScratch(t, again)
			again.write(1, 100)
			must(t, a.log.CatchUp(t.Context()))
			wantEqual(t, a, again)
			must(t, again.Close())
			if exists(path + openSuffix) {
				t.Error("the replica was closed, and is marked as open")
			}
		})
	}
}

func TestReplicaAheadOfTableIsRefused(t *testing.T) {
	table := newSnapshotTable(t, dyntest.Shared(t, dyntest.Dynoxide))
	a := table.open(byHand)
	a.write(5, 100)
	must(t, a.Close())
	table.delete(slotKey(5)) // as in a table that was restored
	_, err := Open(t.Context(), table.url, Config{Dir: a.dir, Logger: slog.New(slog.DiscardHandler)})
	if rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), "has applied slot 5, which the table") {
		t.Error(err)
	}
}
