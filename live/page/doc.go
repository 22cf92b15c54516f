// Package page serves the live page: a browser view of a cluster, its jobs and the reasons of the scheduler. It
// shows a running scheduler or a journal (type Source).
//
//	GET  /                     the page
//	GET  /api/overview?at=90.5 an Overview; at is in seconds since the start
//	GET  /api/job?id=a&at=90.5 a Job
//	GET  /api/log?id=a         the last lines of its output, if the source has it
//	GET  /api/question?cancel=a&at=90.5
//	                           a what-if answer; also type=t4&nodes=1, or resize=a&gpus=2
//	GET  /api/series           a Series: GPUs and jobs over time
//	GET  /api/timeline         a status.Timeline: what each job held over time
//	GET  /api/changes          server-sent events: the number of each new overview
//	POST /api/cancel?id=a      cancels a job, if Act was called
//	POST /api/retry?id=a       submits a failed job again, if Act was called with a Retrier
//
// Viewers need the token in the first URL, and then a cookie with another secret. GET changes nothing. A request
// with another host name is refused, so that another site cannot reach the page through its own name. Server.Act
// describes what POST needs.
//
// The page is written in TypeScript (web/*.ts). The repository contains the compiled script, so that go build needs
// no other tool.
package page

//go:generate go tool -modfile=../../internal/tools/esbuild/go.mod esbuild web/main.ts --bundle --target=es2022 --outfile=web/page.js --log-level=warning
