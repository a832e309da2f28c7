package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// downloadOperation is what Terraform does with a bundle on disk, and what a failure of it
// means.
type downloadOperation struct {
	diskSummary string // of a failure of the file system
	summary     string // of another failure
	unchanged   string // what is on disk, and in the state, after a failure
	tryAgain    string // what to do after the cause was removed
}

const (
	applyAgain = "Then run \"terraform apply\" again."
	runAgain   = "Then run the same command again."
)

var (
	planDownload = downloadOperation{
		diskSummary: summaryInspectFailed,
		summary:     summaryInspectFailed,
		unchanged:   "No files were changed.",
		tryAgain:    runAgain,
	}
	createDownload = downloadOperation{
		diskSummary: summaryWriteFailed,
		summary:     summaryDownloadFailed,
		unchanged:   "This resource wrote no files.", // but a replacement may have deleted the old ones
		tryAgain:    applyAgain,
	}
	updateDownload = downloadOperation{
		diskSummary: summaryWriteFailed,
		summary:     summaryDownloadFailed,
		unchanged:   "This resource changed no files, and its state is unchanged.",
		tryAgain:    applyAgain,
	}
	deleteDownload = downloadOperation{
		diskSummary: summaryDeleteFailed,
		summary:     summaryDeleteFailed,
		unchanged:   "No files were deleted, and the state is unchanged.",
		tryAgain:    runAgain,
	}
)

// mismatchError reports a bundle that is not the expected one.
type mismatchError struct {
	argument            string // that is at fault
	summary, what, next string // of the diagnostic
}

func (e *mismatchError) Error() string { return e.what }

// addFailure adds the diagnostics of an operation that failed.
func (o downloadOperation) addFailure(diags *diag.Diagnostics, jobID string, target bundle.Target, err error) {
	if mismatch, ok := errors.AsType[*mismatchError](err); ok {
		diags.AddAttributeError(path.Root(mismatch.argument), mismatch.summary, paragraphs(sentences(mismatch.what, o.unchanged), mismatch.next))
		return
	}
	if occupied, ok := errors.AsType[bundle.OccupiedError](err); ok {
		for _, obstacle := range occupied {
			diags.AddAttributeError(argumentOf(obstacle), summaryPathInUse, explainOccupied(obstacle, o.unchanged, o.tryAgain))
		}
		return
	}
	if archive, ok := errors.AsType[*bundle.ArchiveError](err); ok {
		at, problem, next := "extract_to", "cannot be unpacked, because", "To download it as it is, remove extract_to."
		if archive.Damaged {
			at, problem, next = "path", "is damaged:", "Run \"terraform apply\" again. "+
				"If the bundle is still damaged, change triggers in the docs_static_export resource to export the site again."
		}
		what := fmt.Sprintf("The bundle of job %s %s %s.", jobID, problem, strings.TrimSuffix(archive.Error(), "."))
		diags.AddAttributeError(path.Root(at), summaryUnpackFailed, paragraphs(sentences(what, o.unchanged), next))
		return
	}
	_, ofFile := errors.AsType[*fs.PathError](err)
	_, ofRename := errors.AsType[*os.LinkError](err)
	if ofFile || ofRename {
		if errors.Is(err, bundle.ErrNotUndone) {
			o.unchanged = "" // as the error says
		}
		addError(diags, o.diskSummary, explanation{"The operating system returned: " + err.Error() + ".", o.adviseFileSystem(target, err)}, o.unchanged)
		return
	}
	cause := explain(err)
	if client.IsNotFound(err) {
		cause.advice = sentences(checkService, missingBundle)
	}
	if connection, ok := errors.AsType[*client.ConnectionError](err); ok && connection.TooManyFiles {
		cause.advice = sentences(raiseOpenFiles, o.tryAgain)
	}
	var of string
	if jobID != "" { // else a plan does not know it
		of = "The job_id is " + jobID + "."
	}
	addError(diags, o.summary, cause, sentences(of, o.unchanged))
}

func argumentOf(occupied bundle.Obstacle) path.Path {
	if occupied.Directory {
		return path.Root("extract_to")
	}
	return path.Root("path")
}

// explainOccupied describes what the resource did not write and does not replace.
func explainOccupied(occupied bundle.Obstacle, result, tryAgain string) string {
	return paragraphs(fmt.Sprintf("%q %s. %s", occupied.Name, occupied.Problem, result),
		sentences(fmt.Sprintf("If something else uses %[1]q, for example another docs_bundle_download resource, use a different %[2]s. Otherwise, move or delete %[1]q.", occupied.Name, argumentOf(occupied)), tryAgain))
}

const raiseOpenFiles = "Raise the limit on open files (ulimit -n) or reduce -parallelism."

// adviseFileSystem says what to do about an error of the file system.
func (o downloadOperation) adviseFileSystem(target bundle.Target, err error) string {
	rename, _ := errors.AsType[*os.LinkError](err)
	switch {
	case errors.Is(err, bundle.ErrNotUndone):
		return sentences("Move the previous files back from the temporary directory that the error names.", o.tryAgain)
	case errors.Is(err, syscall.EMFILE):
		return sentences(raiseOpenFiles, o.tryAgain)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "Shorten path or extract_to."
	case errors.Is(err, syscall.EBUSY):
		return "If extract_to is a mount point, use a subdirectory of it."
	case errors.Is(err, syscall.EXDEV) && rename != nil:
		return sentences(fmt.Sprintf("The file system cannot rename %q, for example because it is part of a container image. "+
			"Use a different extract_to, or delete the directory.", rename.Old), o.tryAgain)
	}
	names, parents := strconv.Quote(target.Path), "the directory that contains it"
	if target.Directory != "" {
		names += " and " + strconv.Quote(target.Directory)
		parents = "the directories that contain them"
	}
	return sentences(fmt.Sprintf("Make sure that Terraform can read %s and write to %s, and that the disk has free space.", names, parents), o.tryAgain)
}
