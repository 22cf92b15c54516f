// Package control is the API between the commands and the scheduler of one machine: HTTP with JSON bodies, on a
// unix socket for its owner, root and, if shared, a group.
//
//	POST   /v1/jobs               a Request -> {"id":"mnist-2"}
//	GET    /v1/jobs/{id}          a status.Job
//	GET    /v1/jobs/{id}/explain  an Explanation
//	GET    /v1/jobs/{id}/log?lines=50&follow=true
//	                              text, across rotations and restarts
//	DELETE /v1/jobs/{id}          {}: cancels the job
//	GET    /v1/status?all=true    a status.Status; with all, ended jobs too
//	GET    /v1/question?cancel={id}
//	                              a whatif.Answer; also ?resize={id}&gpus=2 or ?type=a100&nodes=1
//
// An Error has status 400 (impossible request), 403 (another user), 404 (no such job or path), 409 (too late), 413
// (too large), 422 (the scheduler could not accept the job) or 500. An error within a log is in the trailer
// Oxgang-Error. Programs that train use package agentapi instead.
package control
