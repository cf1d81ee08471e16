package main

import "context"

// rawShare is the minimum fraction of the raw engine's speed that Rota has, with all its rules.
const rawShare = 0.7

const enqueueCase = "enqueue/1000"

func enqueueBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{enqueueCase},
		bars:  rawBars(enqueueCase),
		run:   runEnqueue,
	}}
}

// rawBars promises the fraction of the raw engine's speed in wall time, and reports it in processor time as a goal.
func rawBars(caseName string) []bar {
	return []bar{
		{caseName: caseName, subject: "rota", against: "raw", least: rawShare},
		{caseName: caseName + processorTail, subject: "raw", against: "rota", least: rawShare, goal: true},
	}
}

// runEnqueue enqueues batches of 1,000 jobs, with one command and one commit each.
func runEnqueue(b *bench) error {
	f, err := b.empty()
	if err != nil {
		return err
	}
	explainRaw(b, "enqueue", rawBegin, rawInsert, "-- for each job", rawCommit)
	return b.compare(enqueueCase,
		enqueueSubject(b, enqueueCase, "rota", f, openRotaBatchQueue), enqueueSubject(b, enqueueCase, "raw", f, openRawBatchQueue))
}

// enqueueSubject enqueues into a copy of a file.
func enqueueSubject(b *bench, caseName, name string, start *fixture, open opener) subject {
	batches, size := b.sized(10, 1), b.sized(1000, 10)
	path, jobs := b.file("enqueue-"+name), parts*batches*size
	var e batchQueue
	var took usage
	return subject{
		name: name,
		open: func() (err error) {
			if err = copyFile(start.path, path); err == nil {
				e, err = open(path, size)
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range batches {
				if err := took.measure(func() error { return e.enqueue(ctx) }); err != nil {
					return err
				}
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			if err := e.close(); err != nil {
				return err
			}
			b.report.addUsage(caseName, name, jobs, took)
			return audit(ctx, path, start.want.plus(counts{queued: jobs}))
		},
	}
}
