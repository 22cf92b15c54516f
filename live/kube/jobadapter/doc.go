// Package jobadapter reads and changes the objects that jobs are on Kubernetes: batch/v1 Jobs,
// JobSets, TrainJobs and RayJobs. A Kind says what a job asks for (Read), gives it a size and
// lets its pods come (Start), takes them away (Stop), and changes its size while it runs
// (Resize). One pod with GPUs is one worker; pods of a job without GPUs are not looked at.
//
// Start, Stop and Resize change an object in memory, and nothing of it but what they must;
// whoever calls them patches the difference. What a user asked for before Start sized the job
// is kept in an annotation (v1alpha1.Asked), and holds until somebody else changes the
// size.
//
// No function here reads a clock or talks to anybody. What is read was written by users, and
// some of it by no API server that has checked it: numbers are bounded, and what is wrong is
// said in Job.Problem.
package jobadapter
