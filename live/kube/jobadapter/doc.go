// Package jobadapter reads and changes Jobs, JobSets, TrainJobs and RayJobs through one interface, Kind. A worker is
// a pod with GPUs; other pods are ignored. The caller writes the changes.
//
// The API server does not validate all user input, so numbers are bounded here, and Job.Problem reports invalid
// input.
package jobadapter
