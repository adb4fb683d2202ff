// AscendCL: streams and events.
#include "acl/acl.h"
#include "core.h"
#include "stream.h"

using namespace simrt;

namespace {

Handles &streams()
{
    static auto &instance = *new Handles("aclrtStream");
    return instance;
}

Handles &events()
{
    static auto &instance = *new Handles("aclrtEvent");
    return instance;
}

aclError createStream(aclrtStream *stream)
{
    SIM_REQUIRE_POINTER(stream);
    SIM_CONTEXT(context);
    auto *made = new Stream(*context);
    streams().add(made);
    *stream = made;
    return ACL_SUCCESS;
}

aclError destroyStream(const char *symbol, aclrtStream stream)
{
    if (!streams().remove(stream)) {
        return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is no stream", symbol, stream);
    }
    delete static_cast<Stream *>(stream);
    return ACL_SUCCESS;
}

aclError synchronizeStream(const char *symbol, aclrtStream stream, int64_t timeoutMs)
{
    int status = 0;
    Stream *queue = streamOf(symbol, stream, &status);
    return queue == nullptr ? status : queue->synchronize(timeoutMs);
}

aclError createEvent(aclrtEvent *event, bool timed)
{
    SIM_REQUIRE_POINTER(event);
    SIM_CONTEXT(context);
    auto *made = new EventHandle(timed);
    events().add(made);
    *event = made;
    return ACL_SUCCESS;
}

// The event behind a handle, or null after reporting ACL_ERROR_RT_INVALID_HANDLE.
std::shared_ptr<Event> eventOf(const char *symbol, aclrtEvent handle)
{
    if (!events().holds(handle)) {
        fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is no event", symbol, handle);
        return nullptr;
    }
    return static_cast<EventHandle *>(handle)->event;
}

} // namespace

#define SIM_EVENT(name, handle)                        \
    const std::shared_ptr<Event> name = eventOf(__func__, handle); \
    if (name == nullptr) {                             \
        return ACL_ERROR_RT_INVALID_HANDLE;            \
    }

#define SIM_STREAM(name, handle)                       \
    int simStreamStatus = 0;                           \
    Stream *name = streamOf(__func__, handle, &simStreamStatus); \
    if (name == nullptr) {                             \
        return simStreamStatus;                        \
    }

Stream *simrt::streamOf(const char *symbol, aclrtStream handle, int *status)
{
    Context *context = currentContext();
    if (context == nullptr) {
        *status = fail(ACL_ERROR_RT_CONTEXT_NULL, "%s: this thread has no device: call aclrtSetDevice first", symbol);
        return nullptr;
    }
    if (handle == nullptr) {
        return &context->defaultStream();
    }
    if (!streams().holds(handle)) {
        *status = fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is no stream", symbol, handle);
        return nullptr;
    }
    auto *stream = static_cast<Stream *>(handle);
    if (&stream->context() != context) {
        *status = fail(ACL_ERROR_RT_STREAM_CONTEXT, "%s: the stream is of device %d, this thread of device %d", symbol,
                       stream->context().device.id(), context->device.id());
        return nullptr;
    }
    return stream;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    SIM_ENTER();
    return createStream(stream);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t)
{
    SIM_ENTER();
    return createStream(stream);
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    SIM_ENTER();
    return destroyStream(__func__, stream);
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    SIM_ENTER();
    return destroyStream(__func__, stream);
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    SIM_ENTER();
    return synchronizeStream(__func__, stream, -1);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    SIM_ENTER();
    return synchronizeStream(__func__, stream, timeout);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(status);
    SIM_STREAM(queue, stream);
    *status = queue->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(streamId);
    SIM_STREAM(queue, stream);
    *streamId = queue->id();
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    SIM_ENTER();
    SIM_EVENT(waited, event);
    SIM_STREAM(queue, stream);
    const uint64_t recording = waited->issued(); // 0: never recorded, nothing to wait for
    ++waited->pendingWaits;
    queue->submit([waited, recording] {
        waited->wait(recording);
        --waited->pendingWaits;
        return 0;
    });
    return ACL_SUCCESS;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(fn);
    SIM_STREAM(queue, stream);
    queue->submit([=] {
        fn(args);
        return 0;
    });
    return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    SIM_ENTER();
    return createEvent(event, true);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    SIM_ENTER();
    return createEvent(event, (flag & ACL_EVENT_TIME_LINE) != 0);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    SIM_ENTER();
    return createEvent(event, (flag & ACL_EVENT_TIME_LINE) != 0);
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    SIM_ENTER();
    if (!events().remove(event)) {
        return fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyEvent: %p is no event", event);
    }
    delete static_cast<EventHandle *>(event);
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    SIM_ENTER();
    SIM_EVENT(recorded, event);
    SIM_STREAM(queue, stream);
    const uint64_t recording = recorded->issue();
    if (recorded->timed) {
        queue->startTiming();
    }
    queue->submit([recorded, recording, queue] {
        recorded->reach(recording, queue->modelled());
        return 0;
    });
    return ACL_SUCCESS;
}

// Recordings are numbered, so that an event can be recorded again without being reset: nothing to do.
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    SIM_ENTER();
    SIM_EVENT(reset, event);
    SIM_STREAM(queue, stream);
    return ACL_SUCCESS;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(status);
    SIM_EVENT(queried, event);
    *status = queried->complete() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(status);
    SIM_EVENT(queried, event);
    *status = queried->complete() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(status);
    SIM_EVENT(queried, event);
    *status = queried->pendingWaits == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    SIM_ENTER();
    SIM_EVENT(waited, event);
    waited->wait(waited->issued());
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(ms);
    SIM_EVENT(start, startEvent);
    SIM_EVENT(end, endEvent);
    double from = 0, to = 0;
    if (!start->timed || !end->timed) {
        return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "aclrtEventElapsedTime: an event keeps no time: create it with ACL_EVENT_TIME_LINE");
    }
    if (!start->reached(&from) || !end->reached(&to)) {
        return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "aclrtEventElapsedTime: an event was not reached yet");
    }
    *ms = static_cast<float>((to - from) / 1e3);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    SIM_ENTER();
    SIM_REQUIRE_POINTER(timestamp);
    SIM_EVENT(queried, event);
    double when = 0;
    if (!queried->timed || !queried->reached(&when)) {
        return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "aclrtEventGetTimestamp: the event keeps no time, or was not reached yet");
    }
    *timestamp = static_cast<uint64_t>(when);
    return ACL_SUCCESS;
}
