// Package report tells Sentry of jobs that failed, and of how schedules fare. A
// Sentry is an engine.Monitor:
//
//	reports, err := report.NewSentry(dsn, report.Config{Environment: "production", Release: "shop@1.2.3"})
//	engine.New(client, reg, engine.Config{Reporter: reports}).Run(ctx)
//	reports.Close(ctx)
//
// Whatever is sent has been through Scrub and ScrubText first, which those who
// write a Reporter of their own can use as well.
package report
