// Package control is the API between the commands and the scheduler of one machine: HTTP with
// JSON bodies, on a unix socket that only its owner and root may use.
//
//	POST   /v1/jobs               a Request -> {"id":"mnist-2"}
//	GET    /v1/jobs/{id}          a status.Job
//	GET    /v1/jobs/{id}/explain  an Explanation
//	GET    /v1/jobs/{id}/log?lines=50&follow=true
//	                              text, over rotations and restarts; followed until the job ends
//	DELETE /v1/jobs/{id}          {}: the job is cancelled; it ends soon
//	GET    /v1/status?all=true    a status.Status; with all also jobs that have ended
//	GET    /v1/question?cancel={id}
//	                              what would be, a whatif.Answer; or ?resize={id}&gpus=2, or ?type=a100&nodes=1
//
// Whatever goes wrong is an Error with a status of 400 (a request that cannot be met),
// 403 (another user), 404 (no such job or path), 409 (too late), 413 (too large), 422 (the
// scheduler could not take the job in) or 500.
// What goes wrong within a log comes after it, in the trailer Oxgang-Error.
//
// A program that trains does not talk to this socket but to that of package agentapi.
package control
