// Package page serves the live page: what a cluster does now, why, and what became of each job, in a
// browser. It shows a Source: a scheduler that runs, or a journal.
//
//	GET /                     the page
//	GET /api/overview?at=90.5    an Overview: status.Status, and whether it is live; at is in seconds since the start
//	GET /api/job?id=a&at=90.5 a Job: its life and its moment
//	GET /api/log?id=a         the last lines of its output, where the source has it
//	GET /api/question?cancel=a&at=90.5 what would be: if a job were cancelled, type=t4&nodes=1 came, or resize=a had gpus=2
//	GET /api/series           a Series: GPUs and jobs over time
//	GET /api/changes          server-sent events: the number of the overview, whenever it is another
//	POST /api/cancel?id=a     a job is made to end soon, if Act was called
//
// Who does not know the token sees nothing: it is in the first URL, and another secret in a cookie from then on. GET
// changes nothing. A request by another host name than the page's own is refused, so
// that another site cannot reach the page through a name that it controls. What POST asks for, see Server.Act.
//
// The page is written in TypeScript (web/*.ts) and kept in the repository as the one script that
// browsers run, so that neither an installation nor go build needs another tool.
package page

//go:generate go tool -modfile=../../internal/tools/esbuild/go.mod esbuild web/main.ts --bundle --target=es2022 --outfile=web/page.js --log-level=warning
